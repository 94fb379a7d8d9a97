"""Typing into a field, and pressing keys, the way a person does.

One pass in the page waits for the field, refuses what takes no text, gives it the focus and
selects what is to be replaced (``kit/typing.js``); then come real key events in bursts; then
one question: what is in the field now? Text is never logged and never in an error.

Where a person could not type, no key is sent: fields for dates, times, colours and ranges get
their value as a whole, and say so to their listeners.

A newline is Enter: in a text area a new line; in a single-line field it submits, as the last
character of a text, and is left out elsewhere in it, as when such a text is pasted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from vfa.errors import ElementNotTypeableError, ElementStaleError
from vfa.page.bursts import send
from vfa.page.keyboard import insert, press, type_text
from vfa.page.keys import Chord, find_key, utf16_length
from vfa.page.locating import ref_of
from vfa.page.reaching import Seen, reach, tell
from vfa.page.settling import Effects, after, before, in_frames

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.page.bursts import Command
    from vfa.page.locating import Element, Target
    from vfa.page.page import Page

PASTED_FROM = 2_000  # characters; a longer text is inserted a part at a time, without keys
PART = 1_000  # characters of a part

BACKSPACE = Chord(find_key("Backspace"), ())
END = Chord(find_key("End"), ())
ENTER = Chord(find_key("Enter"), ())
ALL = Chord(find_key("a"), ("Control",))
LAST = Chord(find_key("End"), ("Control",))


class Typed(msgspec.Struct, frozen=True):
    """What typing came to."""

    element: Element
    ref: str
    final_length: int  # UTF-16 units in the field
    effects: Effects
    note: str = ""


class Pressed(msgspec.Struct, frozen=True):
    """What pressing a key came to."""

    effects: Effects
    focused: bool = False
    element: Element | None = None
    ref: str = ""


class Text(msgspec.Struct, frozen=True):
    """What to type, and how."""

    text: str
    clear: bool = True  # replace what is there; else append
    submit: bool = False  # press Enter in the end


class _Entry(Seen, frozen=True, rename="camel", kw_only=True):
    refused: str = ""
    mode: str = ""  # keys, set
    single_line: bool = False
    hands_on: bool = False  # an editor has the text, and knows by keys alone what to do with it
    needs_end: bool = False  # the caret cannot be set: a key must do it
    filled: bool = False  # something is in it
    limit: int = -1  # maxlength
    final_length: int = 0


class _Focus(Seen, frozen=True, kw_only=True):
    focused: bool = False


class _State(msgspec.Struct, frozen=True, rename="camel"):
    gone: bool = False  # the field is not in the document any more
    lost: int = 0  # keys that would have reached no field
    final_length: int | None = None
    moved: str = ""  # what has the focus now, if not the field
    bad: bool = False  # what is in it is no number


async def type_into(page: Page, target: Target, text: Text) -> Typed:
    """Type into a field, as soon as it can be typed into.

    Raises:
        ElementNotFoundError: Nothing matches.
        ElementStaleError: The field is gone, or went while it was typed into.
        ElementHiddenError: It stayed invisible.
        ElementNotTypeableError: It takes no text, not this one, or stayed disabled.
    """
    start = before(page)
    page.acted = True  # it takes the focus; and a value may be in place already
    how = {"clear": text.clear, "text": text.text}
    element, entry = await reach(page, target, "enter", how, result=_Entry)
    if entry.refused or entry.trouble:
        raise _not_typeable(target, entry.refused or entry.why)
    if entry.mode == "set":
        await page.settle()
        effects = await after(page, start)
        return Typed(element, ref_of(page, element), entry.final_length, effects)
    try:
        state = await _type(page, element, entry, text)
    except BaseException:
        tell(page, element.frame, "leaveKeys")
        raise
    _check(target, state, text)
    effects = await after(page, start)
    length = state.final_length or 0
    return Typed(element, ref_of(page, element), length, effects, _note(entry, state, text))


async def press_key(page: Page, target: Target | None, chord: Chord, repeat: int) -> Pressed:
    """Press a chord, on an element if one is given.

    Raises:
        ElementNotFoundError: Nothing matches.
        ElementStaleError: The ref's element is gone.
        ElementHiddenError: It stayed invisible.
    """
    start = before(page)
    element, focused, ref = None, False, ""
    if target is not None:
        page.acted = True
        element, taken = await reach(page, target, "focusOn", result=_Focus)
        focused, ref = taken.focused, ref_of(page, element)
    await send(page, press(chord, repeat))
    await page.settle()
    return Pressed(await after(page, start), focused, element, ref)


# --- typing -------------------------------------------------------------------------------


async def _type(page: Page, element: Element, entry: _Entry, text: Text) -> _State:
    """Send the keys; return what is in the field after them."""
    content, submit = text.text, text.submit
    if entry.single_line:
        lines = content.splitlines(keepends=True)
        if lines and lines[-1] != (last := lines[-1].rstrip("\r\n")):
            lines[-1], submit = last, True
        content = "".join(line.rstrip("\r\n") for line in lines)
    for burst in _bursts(entry, content, clear=text.clear):
        await send(page, burst)
    if not submit:
        return await _entered(page, element, commit=True) or _State()
    # What Enter does may take the field away: it is looked at before.
    state = await page.kit("typed", element.number, result=_State, frame=element.frame)
    if not state.gone and not state.lost:
        await send(page, press(ENTER))
        await _entered(page, element, commit=False)
    return state


async def _entered(page: Page, element: Element, *, commit: bool) -> _State | None:
    state: _State | None = await in_frames(
        page,
        lambda: page.kit("entered", element.number, commit, result=_State, frame=element.frame),
    )
    return state


def _bursts(entry: _Entry, content: str, *, clear: bool) -> Iterator[list[Command]]:
    if entry.hands_on:
        yield press(ALL if clear else LAST)
    elif not clear and entry.needs_end:
        yield press(END)
    if not content:
        if clear and (entry.filled or entry.hands_on):
            yield press(BACKSPACE)
    elif len(content) > PASTED_FROM:
        for begin in range(0, len(content), PART):
            yield [insert(content[begin : begin + PART])]
    else:
        yield from type_text(content)


def _check(target: Target, state: _State, text: Text) -> None:
    if state.final_length is None and (state.gone or state.lost):
        raise ElementStaleError(
            f"The field {target} was taken from the page while it was typed into",
            hint="Take a new snapshot; the page may have drawn the field anew: type again.",
        )
    if state.lost:
        raise ElementStaleError(
            f"The field {target} lost the focus while it was typed into: "
            f"the last {state.lost} keys reached no field and were withheld",
            hint="Read what is in the field before you type again.",
        )
    if state.bad and text.text:
        raise _not_typeable(target, "what is in it now is not a number")


def _note(entry: _Entry, state: _State, text: Text) -> str:
    if state.gone:
        return "The page drew the field anew while it was typed into."
    if state.moved:
        return f"The page moved the focus on to {state.moved} while it was typed into."
    if entry.hands_on:
        return "The field hands its text on to an editor: read that to see what is there."
    if 0 <= entry.limit == state.final_length and entry.limit < utf16_length(text.text):
        return f"The field takes no more than {entry.limit} characters (maxlength)."
    return ""


def _not_typeable(target: Target, why: str) -> ElementNotTypeableError:
    return ElementNotTypeableError(f"Element takes no such text: {target}: {why}")
