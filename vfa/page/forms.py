"""Form controls: choosing in lists, checking boxes, filling a form.

What is native and has no face to click, a list's options, is set by the page's own means
(``kit/forms.js``) and told as a browser tells it. Everything else is clicked or typed as by a
person. Each function returns what can be seen afterwards, not what was sent; where that is not
what was asked for, it fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from vfa.errors import (
    CdpError,
    ElementHiddenError,
    ElementNotClickableError,
    ElementNotFoundError,
    ElementNotTypeableError,
    ElementStaleError,
    InvalidArgsError,
    PageError,
    SessionGoneError,
)
from vfa.page.keys import Chord, find_key
from vfa.page.locating import Element, Target, locate, pierce, ref_of, time_left
from vfa.page.pointer import Click, click
from vfa.page.reaching import Seen, reach
from vfa.page.settling import Effects, after, before, in_frames
from vfa.page.typing_text import Text, press_key, type_into

if TYPE_CHECKING:
    from vfa.page.page import Page

EFFECT = 1_000.0  # ms for a page to show what a click on one of its controls has done
OPENING = 1_000.0  # ms for a list to have the option before its text is typed into it
ROUND = 1_000.0  # ms of waiting for a field in one frame of several
SHOWN = 80  # characters of a name or an option that an error repeats

ENTER = Chord(find_key("Enter"), ())


# --- choosing -----------------------------------------------------------------------------


class Wish(msgspec.Struct, frozen=True):
    """Which options to choose; all of them together."""

    values: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    indexes: tuple[int, ...] = ()
    either: tuple[str, ...] = ()  # by label, or else by value


class Chosen(msgspec.Struct, frozen=True):
    """What is chosen now."""

    ref: str
    selected: tuple[str, ...]  # values
    labels: tuple[str, ...]
    changed: bool
    matches: int = 1
    effects: Effects = Effects()


class _Choice(Seen, frozen=True, kw_only=True):
    kind: str = ""
    name: str = ""
    options: tuple[str, ...] = ()
    more: int = 0
    selected: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    changed: bool = False
    gone: bool = False


class _List(msgspec.Struct, frozen=True):
    gone: bool = False
    open: bool = False
    popup: bool = False  # it comes and goes
    multiple: bool = False
    editable: bool = False


class _Options(msgspec.Struct, frozen=True):
    gone: bool = False
    trouble: str = ""
    why: str = ""
    options: tuple[str, ...] = ()
    more: int = 0
    picked: tuple[tuple[int, bool, str, int], ...] = ()  # number, selected, name, times shown
    others: tuple[int, ...] = ()


async def choose(page: Page, target: Target, wish: Wish) -> Chosen:
    """Choose options of a list, as soon as it is there and has them.

    A list that is made of other elements is opened and clicked.

    Raises:
        ElementNotFoundError: Nothing matches, or there is no such option.
        ElementStaleError: The ref's element is gone.
        ElementHiddenError: The list stayed invisible.
        ElementNotClickableError: The list, or the option, stayed disabled.
        InvalidArgsError: It is no list, or does not take so many options.
        PageError: The page did not keep the choice.
    """
    start = before(page)
    page.acted = True
    want = msgspec.to_builtins(wish)
    element, seen = await reach(page, target, "choose", want, result=_Choice)
    if not seen.kind:
        raise InvalidArgsError(
            f"{_short(str(target))} is no list: it is {seen.name}",
            hint="Click it to open its list, then choose in that; or use browser_type.",
        )
    if seen.trouble:
        raise _not_chosen(target, seen.trouble, seen.why, seen.options, seen.more)
    if seen.kind != "select":
        return await _choose_by_clicks(page, target, element, wish)
    now = await in_frames(
        page,
        lambda: page.kit("chosen", element.number, result=_Choice, frame=element.frame),
    )
    effects = await after(page, start)
    if now is not None and not now.gone and now.selected != seen.selected:
        raise PageError(
            f"The page did not keep the choice: {_listed(now.labels)} is chosen now",
            hint="Take a snapshot to see what the page has made of it.",
        )
    ref = ref_of(page, element)
    return Chosen(ref, seen.selected, seen.labels, seen.changed, seen.matches, effects)


async def _choose_by_clicks(page: Page, target: Target, element: Element, wish: Wish) -> Chosen:
    """Choose in a list box, or in the one that a button or a field opens."""
    frame = element.frame
    state = await page.kit("listState", element.number, result=_List, frame=frame)
    here = Target(ref=ref_of(page, element))
    if not state.open:
        await click(page, here, Click())
    options = await _find_options(page, element, wish, editable=state.editable)
    if options.trouble or options.gone:
        raise _not_chosen(target, options.trouble, options.why, options.options, options.more)
    state = await page.kit("listState", element.number, result=_List, frame=frame)
    if len(options.picked) != 1 and not state.multiple:
        raise _not_chosen(target, "single", "it takes one option", (), 0)
    # A click on what is chosen takes it away from a list of many; it closes any other.
    is_over = len(options.picked) == 1 and not state.multiple and state.popup
    turns = [
        (number, name, -1 if chosen else times, True)  # it need not be shown more often
        for number, chosen, name, times in options.picked
        if is_over or not chosen
    ]
    changed = any(not chosen for _, chosen, _, _ in options.picked)
    if state.multiple:
        turns += [(number, "", 0, False) for number in options.others]
        changed = bool(turns)
    effects = Effects()
    for turn in turns:
        if turn is not turns[0] and turn[3]:
            turn = await _found_again(page, element, turn)
        closing = state.popup and not state.multiple
        effects = await _click_option(page, element, turn, closing=closing)
        if effects.navigated and not effects.same_document:
            break
    names = tuple(name for _, _, name, _ in options.picked)
    return Chosen(here.ref, names, names, changed, element.matches, effects)


_Turn = tuple[int, str, int, bool]  # the option, its name, times shown, whether to choose it


async def _found_again(page: Page, element: Element, turn: _Turn) -> _Turn:
    """Open a list anew if it has closed, and drawn its options anew, after a choice."""
    state = await page.kit("listState", element.number, result=_List, frame=element.frame)
    if state.gone or state.open or not state.popup:
        return turn
    await click(page, Target(ref=ref_of(page, element)), Click())
    found = await _find_options(page, element, Wish(labels=(turn[1],)), editable=False)
    for number, _, name, times in found.picked:
        return number, name, times, True
    return turn


async def _click_option(page: Page, element: Element, turn: _Turn, *, closing: bool) -> Effects:
    """Click an option; see that it is chosen then, or not chosen any more."""
    number, name, times, chosen = turn
    option = Target(ref=ref_of(page, Element(element.frame, number)))
    effects = (await click(page, option, Click())).effects
    if effects.navigated and not effects.same_document:
        return effects
    arguments = (element.number, number, name, times, chosen, closing, EFFECT)
    if not await page.kit("optionBecame", *arguments, result=bool, frame=element.frame):
        raise PageError(
            f"The option {_short(name)!r} was clicked, but nothing shows that it is "
            f"{'chosen' if chosen else 'not chosen any more'}",
            hint="Take a snapshot to see what the click did.",
        )
    return effects


async def _find_options(
    page: Page, element: Element, wish: Wish, *, editable: bool
) -> _Options:
    """Wait for the options; a field is told their text if its list does not have them."""
    budget = min(OPENING, time_left()) if editable else time_left()
    arguments = (element.number, msgspec.to_builtins(wish))
    find = "findOptions"
    found = await page.kit(find, *arguments, budget, result=_Options, frame=element.frame)
    texts = (*wish.labels, *wish.either)
    if found.trouble != "unknown" or not editable or len(texts) != 1:
        return found
    try:
        await type_into(page, Target(ref=ref_of(page, element)), Text(texts[0]))
    except (ElementHiddenError, ElementNotTypeableError):
        return found
    then = await page.kit(find, *arguments, time_left(), result=_Options, frame=element.frame)
    return then if then.options or not then.trouble else found


def _not_chosen(
    target: Target, trouble: str, why: str, options: tuple[str, ...], more: int
) -> PageError | InvalidArgsError:
    """Return the error for options that cannot be chosen."""
    name = _short(str(target))
    match trouble:
        case "unknown":
            listed = _listed(options) + (f" and {more} more" if more else "")
            return ElementNotFoundError(
                f"Option not found: {_short(why)!r} in {name}. It has: {listed or 'none'}",
                hint="Choose one of those; or wait longer, if the page still loads it.",
            )
        case "off":
            return ElementNotClickableError(f"The option {_short(why)!r} of {name} is disabled")
        case "single":
            return InvalidArgsError(f"{name} takes one option, no more and no less")
        case "":
            return ElementStaleError(f"The list {name} went while it was chosen from")
    return ElementNotClickableError(
        f"Element is not clickable: {name}: {why}",
        hint="Wait until the page enables it, or see what it asks for first.",
    )


# --- checking -----------------------------------------------------------------------------


class Checked(msgspec.Struct, frozen=True):
    """What a control's state is now."""

    ref: str
    kind: str
    checked: bool | None  # None: the click led away from it, so nobody can tell
    changed: bool
    matches: int = 1
    effects: Effects = Effects()


class _Checkable(Seen, frozen=True, kw_only=True):
    kind: str = ""
    state: str = ""
    name: str = ""


async def check(page: Page, target: Target, *, checked: bool) -> Checked:
    """Click a checkbox, a radio button or a switch, unless it is as wanted already.

    Raises:
        ElementNotFoundError: Nothing matches.
        ElementStaleError: The ref's element is gone.
        ElementHiddenError: Neither it nor a label of it can be seen.
        ElementNotClickableError: It stayed covered or disabled.
        InvalidArgsError: It has no such state, or is a radio button to be unchecked.
        PageError: It was clicked, and is not as wanted.
    """
    element, seen = await reach(page, target, "checkable", result=_Checkable)
    if not seen.kind:
        raise InvalidArgsError(
            f"{_short(str(target))} has no state to check: it is {seen.name}",
            hint="Name a checkbox, a radio button or a switch, or its label.",
        )
    wanted = "true" if checked else "false"
    ref = ref_of(page, element)
    if seen.state == wanted:
        return Checked(ref, seen.kind, checked, changed=False, matches=seen.matches)
    if not checked and seen.kind in {"radio", "menuitemradio"}:
        raise InvalidArgsError(
            f"{_short(str(target))} is a radio button, which cannot be unchecked",
            hint="Check another one of its group.",
        )
    state, clicks = seen.state, 2 if seen.state == "mixed" else 1
    effects = Effects()
    for _ in range(clicks):  # from "mixed" a click may lead to either
        effects = (await click(page, Target(ref=ref), Click())).effects
        state = await _state_after(page, target, element, state)
        if state in {wanted, ""}:
            now = checked if state else None
            return Checked(ref, seen.kind, now, True, seen.matches, effects)
    raise PageError(
        f"{_short(str(target))} was clicked, but it is {_in_words(state)}",
        hint="The page may have asked for something else first: take a snapshot.",
    )


async def _state_after(page: Page, target: Target, element: Element, state: str) -> str:
    """Return the state after a click; "" if the control, or its document, went with it."""
    try:
        now = await page.kit(
            "checkedBecame",
            element.number,
            state,
            min(EFFECT, time_left()),
            result=str,
            frame=element.frame,
        )
    except CdpError:
        return ""
    if now != "gone":
        return now
    if target.ref:
        return ""
    try:  # many pages draw a control anew when it changes
        again = await locate(page, target, wait=False)
    except (ElementNotFoundError, CdpError):
        return ""
    here = Target(ref=ref_of(page, again))
    return (await reach(page, here, "checkable", result=_Checkable))[1].state


def _in_words(state: str) -> str:
    return {"true": "checked", "false": "not checked"}.get(state, "neither checked nor not")


# --- filling a form -----------------------------------------------------------------------


class Field(msgspec.Struct, frozen=True):
    """One field and what it is to hold."""

    target: Target | None = None
    label: str = ""
    value: str | None = None
    checked: bool | None = None
    option: str | None = None

    def __str__(self) -> str:
        return (
            f"label {_short(self.label)!r}" if self.target is None else _short(str(self.target))
        )


class Filled(msgspec.Struct, frozen=True):
    """What a field holds now; a text is not repeated."""

    ref: str
    kind: str
    final_length: int | None = None
    checked: bool | None = None
    selected: tuple[str, ...] = ()
    note: str = ""
    effects: Effects = Effects()


class _Kind(Seen, frozen=True, kw_only=True):
    kind: str = ""


class _Named(msgspec.Struct, frozen=True):
    number: int = 0
    matches: int = 1
    names: tuple[str, ...] = ()
    suspects: bool = False
    gone: bool = False


async def fill(page: Page, field: Field) -> Filled:
    """Give one field what it is to hold, by the kind of field that it is.

    Raises:
        ElementNotFoundError: There is no such field, or no such option.
        InvalidArgsError: It takes something else.
        PageError: As typing, choosing and checking do.
    """
    target = field.target
    if target is None:
        target = Target(ref=ref_of(page, await find_field(page, field.label)))
    element, seen = await reach(page, target, "fieldKind", result=_Kind)
    kind = seen.kind
    if kind == "file":
        raise InvalidArgsError(f"{field} takes files", hint="Use browser_upload for it.")
    here = Target(ref=ref_of(page, element))
    words = field.option if field.option is not None else field.value
    if kind in {"radio", "radiogroup"} and words is not None:
        return await _check_radio(page, element, words)
    if field.checked is not None:
        done = await check(page, here, checked=field.checked)
        return Filled(done.ref, done.kind, checked=done.checked, effects=done.effects)
    assert words is not None
    if kind in {"select", "listbox", "combobox"} and (
        field.option is not None or not await _is_typed_into(page, element, kind)
    ):
        chosen = await choose(page, here, Wish(either=(words,)))
        return Filled(chosen.ref, kind, selected=chosen.labels, effects=chosen.effects)
    if kind not in {"text", "combobox"} or field.option is not None:
        raise InvalidArgsError(
            f"{field} is a {kind} field" if kind != "text" else f"{field} has no options",
            hint="Give checked for boxes, option for lists, value for text.",
        )
    typed = await type_into(page, here, Text(words))
    return Filled(
        typed.ref, kind, final_length=typed.final_length, note=typed.note, effects=typed.effects
    )


async def _is_typed_into(page: Page, element: Element, kind: str) -> bool:
    if kind != "combobox":
        return False
    state = await page.kit("listState", element.number, result=_List, frame=element.frame)
    return state.editable


async def _check_radio(page: Page, element: Element, words: str) -> Filled:
    found = await page.kit("radioOf", element.number, words, result=_Named, frame=element.frame)
    if not found.number:
        raise ElementNotFoundError(
            f"Option not found: {_short(words)!r}. The group has: {_listed(found.names)}",
            hint="Choose one of those.",
        )
    radio = Target(ref=ref_of(page, Element(element.frame, found.number)))
    done = await check(page, radio, checked=True)
    return Filled(done.ref, done.kind, checked=done.checked, effects=done.effects)


async def find_field(page: Page, label: str) -> Element:
    """Return the field of that label or name, in whichever frame it is.

    Raises:
        ElementNotFoundError: There is none; the message has the names that there are.
    """
    while True:
        names: list[str] = []
        for frame in page.frames:
            try:
                found = await page.kit("fieldNamed", label, 0, result=_Named, frame=frame)
                if found.suspects:
                    await pierce(page, frame)
                    found = await page.kit("fieldNamed", label, 0, result=_Named, frame=frame)
            except (CdpError, SessionGoneError):
                if frame is page.frames.main:
                    raise
                continue  # it left
            if found.number:
                return Element(frame, found.number, found.matches)
            names += found.names
        if time_left() <= 0:
            raise ElementNotFoundError(
                f"Element not found: no field has the label {_short(label)!r}. "
                f"There are: {_listed(tuple(names)) or 'none with a name'}",
                hint="Use one of those, or name the field by selector or ref.",
            )
        budget = min(time_left(), ROUND if len(page.frames) > 1 else 20 * ROUND)
        await page.kit("fieldNamed", label, budget, result=_Named)


class Sent(msgspec.Struct, frozen=True):
    """How a form was sent."""

    by: Literal["button", "Enter"]
    effects: Effects


async def submit(page: Page, ref: str) -> Sent:
    """Send the form that a field is in: click its button, or else press Enter in the field.

    Raises:
        ElementStaleError: The field is gone.
        PageError: As clicking does.
    """
    element = await locate(page, Target(ref=ref))
    number = await page.kit("sender", element.number, result=int, frame=element.frame)
    if number:
        button = Target(ref=ref_of(page, Element(element.frame, number)))
        return Sent("button", (await click(page, button, Click())).effects)
    pressed = await press_key(page, Target(ref=ref), ENTER, 1)
    return Sent("Enter", pressed.effects)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(repr(_short(name)) for name in names[:40])
