"""JSON Schemas of tool arguments: one plain object each.

No ``$ref``, no ``oneOf``, no ``title``: clients and models differ in what they understand of
JSON Schema, and each repeated word costs tokens in every conversation. Source: MCP
2025-11-25, tools; JSON Schema 2020-12.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from vfa.config import Config
    from vfa.tools.table import Tool


def input_schema(tool: Tool, config: Config) -> dict[str, Any]:
    """Return the schema of ``tool``'s arguments, with the limits of ``config`` in it."""
    schema = object_schema(tool.arguments)
    if "timeout_ms" in schema["properties"]:
        default = min(tool.default_timeout_ms(config), config.max_timeout_ms)
        schema["properties"]["timeout_ms"] |= {
            "maximum": config.max_timeout_ms,
            "default": default,
        }
    return schema


def listed_schema(tool: Tool, config: Config) -> dict[str, Any]:
    """Return the schema of ``tool``'s arguments as clients are told.

    As ``input_schema``, without what no caller needs to be told: it costs tokens in every
    conversation. All of it is checked all the same.
    """
    schema: dict[str, Any] = _terse(input_schema(tool, config))
    properties = schema["properties"]
    if "tab" in properties:
        properties["tab"] = {"type": "integer"}
    if "timeout_ms" in properties:
        for word in ("description", "maximum"):
            properties["timeout_ms"].pop(word, None)
    return schema


NO_LIMIT = 8_000  # a bound as far out as this is none that a caller would meet


def _terse(node: Any) -> Any:
    if isinstance(node, list):
        return [_terse(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: _terse(value) for key, value in node.items() if not _goes_without(key, value)}


def _goes_without(key: str, value: Any) -> bool:
    """Say whether a word of a schema is understood without being said."""
    match key:
        case "maxLength" | "maxItems" | "minLength" | "minItems":
            return True
        case "default":
            return not value and value != ""  # false, 0, nothing in it
        case "minimum":
            return value in (0, 1) or value <= -NO_LIMIT
        case "maximum":
            return bool(value >= NO_LIMIT)
        case _:
            return key == "additionalProperties" and value is False


def object_schema(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of a struct and of the structs in it, in one piece."""
    (root,), definitions = msgspec.json.schema_components((struct,), ref_template="{name}")
    schema: dict[str, Any] = _plain(root, definitions)
    schema.pop("description", None)  # the struct's docstring, for readers of the source
    return schema | {"additionalProperties": False}


def _plain(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "anyOf" in node:  # "or null" is an argument that was left out, and needs no saying
        (known,) = [each for each in node["anyOf"] if each != {"type": "null"}]
        return _plain({**known, **{k: v for k, v in node.items() if k != "anyOf"}}, definitions)
    if "$ref" in node:
        rest = {key: value for key, value in node.items() if key != "$ref"}
        named = definitions[node["$ref"]] | {"description": ""}  # not the struct's docstring
        return _plain(named | rest, definitions)
    plain = {
        key: _plain_properties(value, definitions)
        if key == "properties"
        else _plain(value, definitions)
        for key, value in node.items()
        if key != "title" and not (key in {"default", "description"} and value in ("", None))
    }
    if plain.get("required") == []:
        del plain["required"]
    if "enum" in plain:
        plain = {"type": "string", **plain}
    return plain


def _plain_properties(
    properties: dict[str, Any], definitions: dict[str, Any]
) -> dict[str, Any]:
    # Apart from the rest: a property may well be called "title" or "default".
    return {name: _plain(schema, definitions) for name, schema in properties.items()}


def describe(schema: dict[str, Any]) -> str:
    """Return in words what a value must be to fit ``schema``."""
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    kind = schema.get("type", "")
    if kind in {"integer", "number"}:
        return _number_words("a whole number" if kind == "integer" else "a number", schema)
    if kind == "string":
        return _length_words("a string", "characters", schema, "minLength", "maxLength")
    if kind == "array":
        items = describe(schema.get("items", {}))
        return _length_words(
            f"a list, each {items},", "items", schema, "minItems", "maxItems"
        ).rstrip(",")
    if kind == "object" and "properties" not in schema:
        return "an object, each value " + describe(schema.get("additionalProperties", {}))
    if kind == "object":
        return "an object with " + ", ".join(schema.get("properties", {}))
    return {"boolean": "true or false"}.get(kind, "valid")


def _number_words(noun: str, schema: dict[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{noun} from {low} to {high}"
    if high is not None:
        return f"{noun} of at most {high}"
    return noun if low is None else f"{noun} of at least {low}"


def _length_words(
    noun: str, unit: str, schema: dict[str, Any], low_key: str, high_key: str
) -> str:
    low, high = schema.get(low_key), schema.get(high_key)
    if high is not None:
        return f"{noun} of {low or 0} to {high} {unit}"
    return noun if low is None else f"{noun} of at least {low} {unit}"
