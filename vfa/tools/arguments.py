"""Checking a call's arguments, and saying precisely what is wrong with them.

Everything is refused here, before a browser is started: unknown names with what was probably
meant, missing ones, wrong types, values out of range. All problems are named at once.

Two liberties are taken, because clients and models do: ``5.0`` is a whole number, and null
for an optional argument means that it was left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from vfa.errors import InvalidArgsError
from vfa.tools.schema import describe, input_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vfa.config import Config
    from vfa.tools.table import Tool

SAFE_INTEGER = 2**53  # beyond, a JSON number may not be the integer that was meant
SHOWN = 60  # characters of a refused value that are repeated to the caller
MOST_PROBLEMS = 10  # named; the others are counted
LONGEST_NAME = 100  # characters; nobody mistypes an argument's name as something longer


def read_arguments(tool: Tool, given: Mapping[str, Any], config: Config) -> Any:
    """Return ``given`` as ``tool.arguments``.

    Raises:
        InvalidArgsError: It does not fit; the message names each argument that is wrong.
    """
    known = set(tool.arguments.__struct_fields__)
    values = {name: _lenient(value) for name, value in given.items() if value is not None}
    if known.issuperset(values):
        try:
            arguments = msgspec.convert(values, tool.arguments)
        except msgspec.ValidationError:
            pass
        else:
            if not getattr(arguments, "timeout_ms", 0) > config.max_timeout_ms:
                return arguments
    schema = input_schema(tool, config)
    problems = list(_problems(values, tool, schema))
    if len(problems) > MOST_PROBLEMS:
        problems[MOST_PROBLEMS:] = [f"and {len(problems) - MOST_PROBLEMS} more"]
    raise InvalidArgsError(
        f"Invalid arguments for {tool.name}: " + "; ".join(problems),
        hint=f"{tool.name} takes {_signature(schema)}.",
    )


def suggest(name: str, known: list[str]) -> str:
    """Return " (did you mean …?)" if one of ``known`` resembles ``name``, else nothing."""
    import difflib  # only a caller's mistake needs it

    if len(name) > LONGEST_NAME:
        return ""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f" (did you mean {close[0]}?)" if close else ""


def _lenient(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < SAFE_INTEGER:
        return int(value)
    if isinstance(value, dict):
        return {name: _lenient(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_lenient(inner) for inner in value]
    return value


def _problems(
    values: Mapping[str, Any], tool: Tool, schema: Mapping[str, Any]
) -> Iterator[str]:
    properties = schema["properties"]
    for name in values:
        if name not in properties:
            yield f"unknown argument {_shown(name)}{suggest(name, list(properties))}"
    for field in msgspec.structs.fields(tool.arguments):
        if field.name not in values:
            if field.required:
                yield f"{field.name} is missing"
            continue
        value = values[field.name]
        try:
            msgspec.convert(value, field.type)
        except msgspec.ValidationError as error:
            yield _wrong(field.name, value, properties[field.name], str(error))
        else:
            high = properties[field.name].get("maximum")
            if high is not None and value > high:
                yield _must_be(field.name, value, properties[field.name])


def _wrong(name: str, value: Any, schema: dict[str, Any], error: str) -> str:
    """Put msgspec's ``Expected … - at `$.width[0]` `` into words with the full name."""
    reason, _, path = error.partition(" - at `$")
    for step in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        key, index = step
        name += f".{key}" if key else f"[{index}]"
        value = value[key] if key else value[int(index)]
        schema = schema["properties"][key] if key else schema["items"]
    if match := re.fullmatch(r"Object contains unknown field `(.*)`", reason, re.DOTALL):
        return f"unknown argument {_shown(f'{name}.{match[1]}')}" + suggest(
            match[1], list(schema["properties"])
        )
    return _must_be(name, value, schema)


def _must_be(name: str, value: Any, schema: dict[str, Any]) -> str:
    unknown = f"Unknown {name}: " if "enum" in schema and isinstance(value, str) else ""
    return f"{unknown}{name} must be {describe(schema)}, not {_shown(value)}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return repr(value[:SHOWN]) + (
            f"… ({len(value)} characters)" if len(value) > SHOWN else ""
        )
    if isinstance(value, dict | list):
        return ("an object" if isinstance(value, dict) else "a list") + f" of {len(value)}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) > SAFE_INTEGER:
        return "a number that large"  # Python refuses to write out integers of any length
    return f"{value}"


def _signature(schema: Mapping[str, Any]) -> str:
    """Return the argument names, the required ones marked."""
    required = schema.get("required", [])
    names = [f"{n} (required)" if n in required else n for n in schema["properties"]]
    return ", ".join(names) if names else "no arguments"
