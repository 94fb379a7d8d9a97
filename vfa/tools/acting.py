"""The tools that act on elements: click, hover, type, press, scroll, drag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from vfa.errors import InvalidArgsError
from vfa.page.dragging import Drag, drag
from vfa.page.keys import find_chord, find_modifier
from vfa.page.locating import REF, Target, check_target
from vfa.page.pointer import Button, Click, click, hover
from vfa.page.scrolling import Direction, scroll_into_view, scroll_to, scroll_towards
from vfa.page.typing_text import Text, press_key, type_into
from vfa.tools.answer import Answer
from vfa.tools.fields import (
    MAX_SELECTOR,
    TabNumber,
    TimeoutMs,
    dialogs,
    tool_time,
    utf16_length,
)
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.engine import Engine
    from vfa.page.locating import Element

MAX_REF = 100  # characters
# Said once, where most clients look first; the other tools take the same.
FirstSelector = Annotated[
    str, Meta(max_length=MAX_SELECTOR, description="CSS; `host >>> inner` enters frames.")
]
FirstRef = Annotated[str, Meta(max_length=MAX_REF, description="From a snapshot: e12.")]
Selector = Annotated[str, Meta(max_length=MAX_SELECTOR)]
Ref = Annotated[str, Meta(max_length=MAX_REF)]
Modifiers = Annotated[tuple[str, ...], Meta(max_length=8)]  # checked, forgivingly, by us
MAX_TEXT = 1_000_000  # characters
MAX_REPEAT = 100
MAX_PIXELS = 10_000_000


def _about(target: Target, element: Element, ref: str) -> dict[str, Any]:
    """Return what an answer says of its element: how it was named, its ref, other matches."""
    told: dict[str, Any] = {"selector": target.selector or None, "ref": ref}
    if element.matches > 1:
        told["matches"] = element.matches
    return told


# --- browser_click ---------------------------------------------------------------------


class ClickArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_click``."""

    selector: FirstSelector = ""
    ref: FirstRef = ""
    button: Button = "left"
    count: Annotated[int, Meta(ge=1, le=3, description="2: double click.")] = 1
    modifiers: Annotated[Modifiers, Meta(description="Alt, Control, Meta, Shift.")] = ()
    force: Annotated[bool, Meta(description="Even if covered or disabled.")] = False
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def run_click(engine: Engine, arguments: ClickArguments, call: Call) -> Answer:
    """Click an element, once it can be clicked."""
    target = check_target(arguments.selector, arguments.ref)
    how = Click(
        button=arguments.button,
        count=arguments.count,
        modifiers=tuple(find_modifier(name) for name in arguments.modifiers),
        force=arguments.force,
    )
    session = engine.tab(arguments.tab)
    clicked = await session.act(lambda page: click(page, target, how))
    aimed = clicked.aimed
    value = {"clicked": True, **_about(target, aimed.element, clicked.ref)}
    value |= {"x": round(aimed.x), "y": round(aimed.y)}
    if clicked.forced:
        value["forced"] = True
    return Answer(value=value | clicked.effects.as_fields() | dialogs(session))


# --- browser_hover ---------------------------------------------------------------------


class HoverArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_hover``."""

    selector: Selector = ""
    ref: Ref = ""
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def run_hover(engine: Engine, arguments: HoverArguments, call: Call) -> Answer:
    """Move the mouse to an element."""
    target = check_target(arguments.selector, arguments.ref)
    session = engine.tab(arguments.tab)
    hovered = await session.act(lambda page: hover(page, target))
    aimed = hovered.aimed
    value = {"hovered": True, **_about(target, aimed.element, hovered.ref)}
    value |= {
        "x": round(aimed.x),
        "y": round(aimed.y),
        "matchesHover": hovered.matches_hover,
    }
    if aimed.covered:
        value["covered"] = aimed.covered
    return Answer(value=value | dialogs(session))


# --- browser_type ----------------------------------------------------------------------


class TypeArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_type``."""

    text: Annotated[str, Meta(max_length=MAX_TEXT)]
    selector: Selector = ""
    ref: Ref = ""
    clear_first: Annotated[bool, Meta(description="false appends.")] = True
    submit: Annotated[bool, Meta(description="Then press Enter.")] = False
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def run_type(engine: Engine, arguments: TypeArguments, call: Call) -> Answer:
    """Type into a field with real keys."""
    target = check_target(arguments.selector, arguments.ref)
    text = Text(arguments.text, clear=arguments.clear_first, submit=arguments.submit)
    session = engine.tab(arguments.tab)
    typed = await session.act(lambda page: type_into(page, target, text))
    value = {"typed": True, **_about(target, typed.element, typed.ref)}
    value |= {"length": utf16_length(arguments.text), "finalLength": typed.final_length}
    if typed.note:
        value["note"] = typed.note
    return Answer(value=value | typed.effects.as_fields() | dialogs(session))


# --- browser_press ---------------------------------------------------------------------


class PressArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_press``."""

    key: Annotated[
        str, Meta(min_length=1, max_length=200, description="Enter, a, ArrowDown, Control+K.")
    ]
    modifiers: Modifiers = ()
    selector: Selector = ""
    ref: Ref = ""
    repeat: Annotated[int, Meta(ge=1, le=MAX_REPEAT)] = 1
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def run_press(engine: Engine, arguments: PressArguments, call: Call) -> Answer:
    """Press a key, or a chord of keys."""
    chord = find_chord(arguments.key, arguments.modifiers)
    named = arguments.selector or arguments.ref
    target = check_target(arguments.selector, arguments.ref) if named else None
    session = engine.tab(arguments.tab)
    pressed = await session.act(lambda page: press_key(page, target, chord, arguments.repeat))
    value: dict[str, Any] = {
        "pressed": True,
        "key": chord.key.key,
        "modifiers": list(chord.modifiers),
        "count": arguments.repeat,
        "selector": arguments.selector or None,
        "focused": pressed.focused,
    }
    if target is not None and pressed.element is not None:
        value |= _about(target, pressed.element, pressed.ref)
    return Answer(value=value | pressed.effects.as_fields() | dialogs(session))


# --- browser_scroll --------------------------------------------------------------------


class ScrollArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_scroll``."""

    direction: Direction | None = None
    selector: Selector = ""
    ref: Ref = ""
    x: Annotated[float, Meta(ge=-MAX_PIXELS, le=MAX_PIXELS)] | None = None
    y: Annotated[float, Meta(ge=-MAX_PIXELS, le=MAX_PIXELS)] | None = None
    pixels: Annotated[
        float, Meta(ge=-MAX_PIXELS, le=MAX_PIXELS, description="With direction; default 80%.")
    ] = 0
    container: Annotated[
        str,
        Meta(max_length=MAX_SELECTOR, description="Selector or ref of what scrolls."),
    ] = ""
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def run_scroll(engine: Engine, arguments: ScrollArguments, call: Call) -> Answer:
    """Scroll by direction, to a position, or to an element."""
    _check_scroll(arguments)
    session = engine.tab(arguments.tab)
    value: dict[str, Any]
    if arguments.selector or arguments.ref:
        target = check_target(arguments.selector, arguments.ref)
        shown = await session.act(lambda page: scroll_into_view(page, target))
        value = {"scrollX": shown.x, "scrollY": shown.y, "mode": "element"}
        value |= _about(target, shown.element, shown.ref)
        value |= {"inViewport": shown.in_viewport, "fullyInViewport": shown.fully}
        return Answer(value=value | dialogs(session))
    inside = _container(arguments.container)
    direction = arguments.direction
    if direction is not None:
        pixels = round(arguments.pixels)
        scrolled = await session.act(
            lambda page: scroll_towards(page, inside, direction, pixels)
        )
        value = {"mode": "direction", "direction": direction}
    else:
        scrolled = await session.act(
            lambda page: scroll_to(page, inside, arguments.x, arguments.y)
        )
        value = {"mode": "position", "x": arguments.x, "y": arguments.y}
    value = {"scrollX": scrolled.x, "scrollY": scrolled.y, **value}
    value["moved"] = {"x": scrolled.moved_x, "y": scrolled.moved_y}
    value["atEnd"] = scrolled.at_end
    if scrolled.scroller != "window":
        value["scroller"] = scrolled.scroller  # whose scrollX and scrollY they are
    return Answer(value=value | dialogs(session))


def _check_scroll(arguments: ScrollArguments) -> None:
    """Refuse a call that names no way to scroll, or several.

    Raises:
        InvalidArgsError: It does.
    """
    by_element = bool(arguments.selector or arguments.ref)
    by_position = arguments.x is not None or arguments.y is not None
    modes = [arguments.direction is not None, by_element, by_position]
    if sum(modes) != 1:
        raise InvalidArgsError(
            "Provide one of direction, selector (or ref), x/y: exactly one way to scroll",
            hint="pixels goes with direction; container says what scrolls.",
        )
    if by_element:
        check_target(arguments.selector, arguments.ref)
        if arguments.container:
            raise InvalidArgsError("container cannot be combined with selector or ref")
    elif arguments.container:
        _container(arguments.container)


def _container(name: str) -> Target | None:
    if not name:
        return None
    if REF.fullmatch(name):
        return Target(ref=name)
    return Target(selector=name)


# --- browser_drag ----------------------------------------------------------------------


class DragArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_drag``."""

    selector: Selector = ""
    ref: Ref = ""
    to_selector: Selector = ""
    to_ref: Ref = ""
    dx: Annotated[float, Meta(ge=-10_000, le=10_000)] = 0
    dy: Annotated[float, Meta(ge=-10_000, le=10_000)] = 0
    steps: Annotated[int, Meta(ge=1, le=100, description="Mouse moves.")] = 10
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def run_drag(engine: Engine, arguments: DragArguments, call: Call) -> Answer:
    """Drag an element onto another, or by an offset."""
    source = check_target(arguments.selector, arguments.ref)
    offset = (arguments.dx, arguments.dy)
    destination = None
    if arguments.to_selector or arguments.to_ref:
        destination = check_target(arguments.to_selector, arguments.to_ref)
    if (destination is None) == (offset == (0, 0)):
        raise InvalidArgsError("Provide exactly one of to_selector, to_ref, or dx and dy")
    what = Drag(source, destination, offset, arguments.steps)
    session = engine.tab(arguments.tab)
    dragged = await session.act(lambda page: drag(page, what))
    value = {"dragged": True, **_about(source, dragged.source, dragged.ref)}
    value |= {
        "from": {"x": round(dragged.start[0]), "y": round(dragged.start[1])},
        "to": {"x": round(dragged.end[0]), "y": round(dragged.end[1])},
        "mode": dragged.mode,
        "moved": dragged.moved,
    }
    if not dragged.changed:
        value["note"] = "Nothing in the page changed."
    return Answer(value=value | dragged.effects.as_fields() | dialogs(session))


# --- the table --------------------------------------------------------------------------

ACTING: tuple[Tool, ...] = (
    Tool(
        name="browser_click",
        description="Click an element by selector or ref. Waits until it is visible, enabled, "
        "still and uncovered, scrolls to it, and makes sure that the click reaches it.",
        hints=Hints(read_only=False, destructive=True),
        arguments=ClickArguments,
        run=run_click,
        default_timeout_ms=tool_time,
        returns="`clicked` (true), `selector`, `ref`, `x`, `y` (CSS px); `matches` if there "
        "were several, `forced`, `navigated`.",
    ),
    Tool(
        name="browser_hover",
        description="Move the mouse over an element.",
        hints=Hints(read_only=False),
        arguments=HoverArguments,
        run=run_hover,
        default_timeout_ms=tool_time,
        returns="`hovered` (true), `selector`, `ref`, `x`, `y`, `matchesHover`; `matches`, "
        "`covered` by what.",
    ),
    Tool(
        name="browser_type",
        description="Type into a field with real keys; date, time, colour and range fields get "
        "the value as a whole. A final \\n presses Enter, which submits single-line fields.",
        hints=Hints(read_only=False, destructive=True),
        arguments=TypeArguments,
        run=run_type,
        default_timeout_ms=tool_time,
        returns="`typed` (true), `selector`, `ref`, `length` of the text, `finalLength` of the "
        "field (UTF-16 units); `matches`, `note`, `navigated`. Never the text.",
    ),
    Tool(
        name="browser_press",
        description="Press a key or chord on an element, or on what has the focus.",
        hints=Hints(read_only=False, destructive=True),
        arguments=PressArguments,
        run=run_press,
        default_timeout_ms=tool_time,
        returns="`pressed` (true), `key`, `modifiers`, `count`, `selector`, `focused`; `ref`, "
        "`matches`, `navigated`.",
    ),
    Tool(
        name="browser_scroll",
        description="Scroll in a direction, to x, y, or an element into view: exactly one.",
        hints=Hints(read_only=False, idempotent=False),
        arguments=ScrollArguments,
        run=run_scroll,
        default_timeout_ms=tool_time,
        returns="`scrollX`, `scrollY`, `mode` (direction, position, element). To an element: "
        "`selector`, `ref`, `inViewport`, `fullyInViewport`; otherwise `direction` or "
        "`x`, `y`, and `moved`, `atEnd`, `scroller` if it is not the page.",
    ),
    Tool(
        name="browser_drag",
        description="Drag an element onto another, or by dx, dy px: sliders, sorters, HTML "
        "drag and drop. A refused drop is an error.",
        hints=Hints(read_only=False, destructive=True),
        arguments=DragArguments,
        run=run_drag,
        default_timeout_ms=tool_time,
        returns="`dragged` (true), `selector`, `ref`, `from`, `to` (`x`, `y`), `mode` (html, "
        "pointer), `moved` (the element is elsewhere); `note` if nothing changed, "
        "`navigated`.",
    ),
)
