"""Keys as input events: single keys, chords and runs of characters.

Pure: makes bursts for ``vfa.page.bursts`` to send. In each, what is pressed is released.

Source: CDP ``Input.dispatchKeyEvent``, ``Input.insertText``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vfa.page.keys import (
    CHARACTERS,
    NO_TEXT,
    NUMPAD,
    SHIFT,
    Chord,
    Key,
    find_key,
    graphemes,
    modifier_keys,
    utf16_length,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vfa.page.bursts import Command

BURST = 50  # strokes sent before their effect is awaited; bounds what a browser has to queue

LONGEST_TEXT = 4  # UTF-16 units of a key event's text; Chromium refuses more
ENTER = find_key("Enter")
SHIFT_KEY = modifier_keys(SHIFT)[0]


def press(chord: Chord, repeat: int = 1) -> list[Command]:
    """Return the burst that presses a chord ``repeat`` times."""
    bits = chord.bits | (SHIFT if chord.key.shift else 0)
    held = modifier_keys(bits & ~chord.key.modifier)
    strokes = [event for _ in range(repeat) for event in _stroke(chord.key, bits)]
    return [*hold(held), *strokes, *release(held)]


def hold(modifiers: Iterable[Key]) -> Iterator[Command]:
    """Give the events that put ``modifiers`` down, one after the other."""
    bits = 0
    for key in modifiers:
        bits |= key.modifier
        yield _key_event("rawKeyDown", key, bits)


def release(modifiers: Sequence[Key]) -> Iterator[Command]:
    """Give the events that let ``modifiers`` go, the last one first."""
    bits = sum(key.modifier for key in modifiers)
    for key in reversed(modifiers):
        bits &= ~key.modifier
        yield _key_event("keyUp", key, bits)


def type_text(text: str) -> Iterator[list[Command]]:
    """Give the bursts that type ``text``: a key for each character that has one.

    Shift goes down for runs of characters that need it. A newline is Enter. What no key makes
    is inserted, a whole grapheme at a time, as an input method does.
    """
    burst: list[Command] = []
    shifted = False
    clusters = graphemes(text)
    for count, cluster in enumerate(clusters, 1):
        key = _key_of(cluster)
        needed = key is not None and key.shift
        if needed != shifted:
            burst += hold([SHIFT_KEY]) if needed else release([SHIFT_KEY])
            shifted = needed
        if key is None:
            burst.append(insert(cluster))
        else:
            burst += _stroke(key, SHIFT if shifted else 0)
        if count % BURST == 0 or count == len(clusters):
            if shifted:
                burst += release([SHIFT_KEY])
                shifted = False
            yield burst
            burst = []


def insert(text: str) -> Command:
    """Return the command that inserts ``text`` where the focus is, without keys."""
    return "Input.insertText", {"text": text}


def _key_of(cluster: str) -> Key | None:
    return ENTER if cluster in {"\n", "\r", "\r\n"} else CHARACTERS.get(cluster)


def _stroke(key: Key, bits: int) -> Iterator[Command]:
    """Give the events of one key going down and up while ``bits`` are held."""
    if utf16_length(key.text) > LONGEST_TEXT:
        yield insert(key.text)
        return
    text = "" if bits & NO_TEXT else key.text
    yield _key_event("keyDown" if text else "rawKeyDown", key, bits | key.modifier, text)
    yield _key_event("keyUp", key, bits & ~key.modifier)


def _key_event(kind: str, key: Key, bits: int, text: str = "") -> Command:
    params: dict[str, Any] = {
        "type": kind,
        "modifiers": bits,
        "key": key.key,
        "code": key.code,
        "windowsVirtualKeyCode": key.key_code,
        "nativeVirtualKeyCode": key.key_code,
        "location": key.location if key.location != NUMPAD else 0,
        "isKeypad": key.location == NUMPAD,
    }
    if text:
        params |= {"text": text, "unmodifiedText": text}
    return "Input.dispatchKeyEvent", params
