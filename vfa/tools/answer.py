"""What a handler answers, and what of it a client gets.

Pure, and without any MCP library: the result is a list of texts, pictures and the structured
value. Three promises are kept here for every tool: an answer is valid JSON text whatever a
page said, it is no longer than ``VFA_MAX_ANSWER_CHARS`` (pictures apart) and says so where
something was left out, and a failure has the form that its family's contract promises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from vfa.errors import VfaError
    from vfa.tools.table import Tool

SHORTER = (20_000, 5_000, 1_000, 300, 80)  # characters left of a string, tried in turn
FEWER = (1_000, 200, 50, 10, 3)  # items left of a list, tried along with them
MOST_FIELDS = 50  # of an object; ours have fewer, a page's may have any number
DEEPEST = 60  # levels of nesting; JSON readers have limits too

_json = msgspec.json.Encoder()


class Picture(msgspec.Struct, frozen=True):
    """A picture in an answer."""

    data: str  # base64
    mime_type: str


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool has to say: one JSON object, and pictures beside it.

    ``inline`` are pictures that the contract wants in the text: each belongs into the item of
    that index of ``value["screenshots"]``, as ``data``. They are kept apart since they are
    not text to a budget, nor worth sending a second time as structured content.
    """

    value: dict[str, Any]
    pictures: tuple[Picture, ...] = ()
    inline: dict[int, str] = {}
    # Makes value fit into so many characters in a way the tool knows to be sensible.
    shorten: Callable[[dict[str, Any], int], dict[str, Any]] | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What goes to the client, in this order: the texts' first, the pictures, the others."""

    texts: tuple[str, ...]
    pictures: tuple[Picture, ...] = ()
    structured: dict[str, Any] | None = None
    is_error: bool = False


def succeed(tool: Tool, answer: Answer, *, budget: int, reset: str | None = None) -> Result:
    """Return the result of a call that worked.

    Args:
        tool: The tool that was called.
        answer: What its handler returned.
        budget: Characters of text at most.
        reset: Why the page was lost since the client last heard of it; None if it was not.
    """
    value = answer.value
    if answer.shorten is not None and encoded_length(value) > budget:
        value = answer.shorten(value, budget)
    value = bounded(well_formed(value), budget)
    texts = [encode(_with_inline(value, answer.inline))]
    if reset is not None:
        texts.append(encode({"sessionReset": True, "reason": reset}))
    return Result(
        texts=tuple(texts),
        pictures=answer.pictures,
        structured=value if tool.output_schema is not None else None,
    )


def fail(tool: Tool, error: VfaError, *, budget: int) -> Result:
    """Return the result of a call that failed as calls may fail."""
    message, hint = (
        _cut(well_formed(words), budget // 2) for words in (error.message, error.hint)
    )
    if tool.is_qa:
        failure = {"code": error.code, "message": message, "hint": hint}
        text = encode({"status": "error", "error": failure})
    else:
        text = f"[{error.code}] {message}" + (f"\n{hint}" if hint else "")
    return Result(texts=(text,), is_error=True)


def encode(value: Any) -> str:
    """Return ``value`` as compact JSON."""
    return _json.encode(value).decode()


def encoded_length(value: Any) -> int:
    """Return how many characters ``value`` takes as JSON, more or less."""
    return len(_json.encode(well_formed(value)))


def well_formed(value: Any) -> Any:
    """Return ``value`` with what no JSON reader can be trusted with made harmless.

    Lone surrogates cannot be written as UTF-8; NUL ends strings in too many programs. Both
    become U+FFFD. Other control characters are escaped by JSON itself. Numbers that JSON does
    not have become null.
    """
    if isinstance(value, str):
        if "\x00" in value:
            value = value.replace("\x00", "\ufffd")
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {well_formed(str(key)): well_formed(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [well_formed(inner) for inner in value]
    return value


def bounded(value: dict[str, Any], budget: int) -> dict[str, Any]:
    """Return ``value`` in at most ``budget`` characters of JSON.

    The last resort, when no tool knew better: strings and lists lose their ends, the longest
    ones first, and ``answerTruncated`` says so.
    """
    if len(_json.encode(value)) <= budget:
        return value
    room = budget - len('"answerTruncated":true,')
    for characters, items in zip(SHORTER, FEWER, strict=True):
        cut = _trimmed(value, characters, items, DEEPEST)
        if len(_json.encode(cut)) <= room:
            break
    else:
        cut = {name: inner for name, inner in cut.items() if not isinstance(inner, dict | list)}
    return {**cut, "answerTruncated": True}


def keep_fitting(items: list[Any], room: int, *, newest: bool = False) -> list[Any]:
    """Return as many of ``items`` as fit into ``room`` characters of JSON.

    Args:
        items: JSON values.
        room: Characters for all of them, commas included.
        newest: Keep the end rather than the beginning.
    """
    kept = 0
    for item in reversed(items) if newest else items:
        room -= encoded_length(item) + 1
        if room < 0:
            break
        kept += 1
    return (items[-kept:] if kept else []) if newest else items[:kept]


def cut_text(text: str, room: int) -> str:
    """Return the beginning of ``text`` that fits into ``room`` characters of JSON."""
    if encoded_length(text) <= room:
        return text
    low, high = 0, min(len(text), max(room, 0))
    while low < high:  # escapes make a character up to six long: halve until it fits
        middle = (low + high + 1) // 2
        if encoded_length(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def _with_inline(value: dict[str, Any], inline: dict[int, str]) -> dict[str, Any]:
    if not inline:
        return value
    shots = [
        {**shot, "data": inline[index]} if index in inline else shot
        for index, shot in enumerate(value.get("screenshots", ()))
    ]
    return {**value, "screenshots": shots}


def _trimmed(value: Any, characters: int, items: int, depth: int) -> Any:
    if isinstance(value, str):
        return _cut(value, characters)
    if isinstance(value, dict | list) and depth == 0:
        return "…"
    if isinstance(value, dict):
        return {
            _cut(name, characters): _trimmed(inner, characters, items, depth - 1)
            for name, inner in list(value.items())[:MOST_FIELDS]
        }
    if isinstance(value, list):
        return [_trimmed(inner, characters, items, depth - 1) for inner in value[:items]]
    return value


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "… [truncated]"
