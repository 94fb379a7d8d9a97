"""The tools that change what the page runs on: resize, emulate."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vfa.errors import InvalidArgsError, ViewportError
from vfa.page.emulation import Emulation, Geolocation, Standing, Throttle, emulate, throttle_of
from vfa.page.viewport import (
    Measured,
    Viewport,
    apply_viewport,
    clear_viewport,
    measure_viewport,
)
from vfa.tools.answer import Answer
from vfa.tools.fields import TabNumber, TimeoutMs, dialogs, tool_time
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.actors.page import SessionTab
    from vfa.engine import Engine
    from vfa.page.page import Page

logger = logging.getLogger(__name__)

Side = Annotated[int, Meta(ge=100, le=10_000)]

# --- browser_resize --------------------------------------------------------------------

PRESETS = {
    "mobile": Viewport(390, 844, 3, mobile=True),
    "tablet": Viewport(768, 1024, 2, mobile=True),
    "desktop": Viewport(1280, 800, 1, mobile=False),
}


class ResizeArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_resize``."""

    preset: Literal["mobile", "tablet", "desktop"] | UnsetType = UNSET
    width: Side | UnsetType = UNSET
    height: Side | UnsetType = UNSET
    device_scale_factor: Annotated[float, Meta(ge=1, le=4)] | UnsetType = UNSET
    mobile: bool | UnsetType = UNSET
    reset: bool | UnsetType = UNSET
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


def wanted_viewport(arguments: ResizeArguments) -> Viewport | None:
    """Return the viewport that is asked for; None: the window's own.

    Raises:
        InvalidArgsError: The arguments contradict each other, or ask for nothing.
    """
    sized = arguments.width is not UNSET, arguments.height is not UNSET
    overrides = _given(arguments, "device_scale_factor", "mobile")
    if arguments.reset is not UNSET and (any(sized) or arguments.preset or overrides):
        raise InvalidArgsError('"reset" cannot be combined with other arguments')
    if arguments.reset is True:
        return None
    if arguments.preset is not UNSET:
        if any(sized):
            raise InvalidArgsError('"preset" cannot be combined with "width" or "height"')
        return msgspec.structs.replace(PRESETS[arguments.preset], **overrides)
    if arguments.width is not UNSET and arguments.height is not UNSET:
        return Viewport(arguments.width, arguments.height, **overrides)
    if any(sized):
        raise InvalidArgsError('Both "width" and "height" are required')
    if overrides:
        raise InvalidArgsError(
            '"device_scale_factor" and "mobile" require a "preset", or "width" and "height"'
        )
    raise InvalidArgsError(
        'No viewport change was requested. Provide one of "preset", "width" with "height", '
        'or "reset": true.'
    )


def _given(arguments: msgspec.Struct, *names: str) -> dict[str, Any]:
    values = ((name, getattr(arguments, name)) for name in names)
    return {name: value for name, value in values if value is not UNSET}


async def resize(engine: Engine, arguments: ResizeArguments, call: Call) -> Answer:
    """Set the tab's viewport, or give it back the window's own."""
    viewport = wanted_viewport(arguments)
    session = engine.tab(arguments.tab)

    async def change(page: Page) -> Measured | None:
        if viewport is None:
            await clear_viewport(page)
        else:
            await apply_viewport(page, viewport)
        session.keep("viewport", None if viewport is None else _standing(viewport))
        return await measure_viewport(page)

    measured = await session.act(change)
    value: dict[str, Any] = {
        "resized": True,
        "width": viewport and viewport.width,
        "height": viewport and viewport.height,
        "deviceScaleFactor": viewport and viewport.device_scale_factor,
        "mobile": viewport and viewport.mobile,
        "preset": arguments.preset or None,
        "reset": viewport is None,
        "measured": measured,
    }
    if viewport is not None and measured is not None:
        value |= _warning(viewport, measured)
    return Answer(value=msgspec.to_builtins(value) | dialogs(session))


def _standing(viewport: Viewport) -> Any:
    async def order(page: Page) -> None:
        try:
            await apply_viewport(page, viewport)
        except ViewportError as error:
            logger.warning("the viewport could not be set again: %s", error)

    return order


def _warning(viewport: Viewport, measured: Measured) -> dict[str, str]:
    if measured.inner_width == viewport.width:
        return {}
    return {
        "warning": f"innerWidth is {measured.inner_width:g}, not {viewport.width}: the page is "
        "wider than the viewport, or has no viewport meta tag and is laid out as on a desktop."
    }


# --- browser_emulate -------------------------------------------------------------------

LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
MOST_HEADERS = 50
# What the network stack says itself. Chromium ignores some of them or ends the request.
OWN_HEADERS = re.compile(
    r"host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect"
    r"|cookie|set-cookie|(?:proxy|sec)-.*",
    re.IGNORECASE,
)
# What an argument says so that names and values agree everywhere.
SAID_OTHERWISE = {"user-agent": "user_agent", "accept-language": "locale"}


class GeolocationArgument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A place, or the refusal to tell it."""

    latitude: Annotated[float, Meta(ge=-90, le=90)] | UnsetType = UNSET
    longitude: Annotated[float, Meta(ge=-180, le=180)] | UnsetType = UNSET
    accuracy: Annotated[float, Meta(ge=0)] = 10
    denied: bool = False


class ThrottleArgument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A network of the caller's own; 0 is no limit."""

    latency_ms: Annotated[float, Meta(ge=0, le=60_000)] = 0
    download_kbps: Annotated[float, Meta(ge=0)] = 0
    upload_kbps: Annotated[float, Meta(ge=0)] = 0


SETTINGS: tuple[str, ...] = Emulation.__struct_fields__


class EmulateArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_emulate``."""

    media: Literal["screen", "print"] | UnsetType = UNSET
    color_scheme: Literal["light", "dark", "no-preference"] | UnsetType = UNSET
    reduced_motion: Literal["reduce", "no-preference"] | UnsetType = UNSET
    forced_colors: Literal["active", "none"] | UnsetType = UNSET
    contrast: Literal["more", "less", "custom", "no-preference"] | UnsetType = UNSET
    locale: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET
    timezone: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET
    geolocation: GeolocationArgument | UnsetType = UNSET
    user_agent: Annotated[str, Meta(min_length=1, max_length=1_000)] | UnsetType = UNSET
    offline: bool | UnsetType = UNSET
    network: Literal["slow-3g", "fast-3g", "slow-4g", "fast-4g"] | UnsetType = UNSET
    throttle: ThrottleArgument | UnsetType = UNSET
    cpu_slowdown: Annotated[float, Meta(ge=1, le=100)] | UnsetType = UNSET
    touch: bool | UnsetType = UNSET
    vision: (
        Literal[
            "blurredVision",
            "reducedContrast",
            "achromatopsia",
            "deuteranopia",
            "protanopia",
            "tritanopia",
        ]
        | UnsetType
    ) = UNSET
    headers: dict[str, str] | UnsetType = UNSET
    reset: Annotated[bool, Meta(description="Clear all first.")] = False
    clear: Annotated[
        tuple[str, ...], Meta(max_length=50, description="Settings to clear first.")
    ] = ()
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


def merged(current: Emulation, arguments: EmulateArguments) -> Emulation:
    """Return what is to be in force after a call.

    Raises:
        InvalidArgsError: The arguments contradict each other.
    """
    given = _given(arguments, *SETTINGS)
    _check(given)
    if unknown := set(arguments.clear) - set(SETTINGS):
        raise InvalidArgsError(
            f"clear: nothing is called {min(unknown)[:60]!r}",
            hint=f"What can be cleared: {', '.join(SETTINGS)}.",
        )
    if "network" in given or "throttle" in given:  # they are two ways to say one thing
        given = {"network": "", "throttle": None} | given
    if place := given.get("geolocation"):
        given["geolocation"] = Geolocation(
            place.latitude or 0, place.longitude or 0, place.accuracy, denied=place.denied
        )
    if limits := given.get("throttle"):
        given["throttle"] = Throttle(**msgspec.structs.asdict(limits))
    base = Emulation() if arguments.reset else current
    nothing = Emulation()
    cleared = {name: getattr(nothing, name) for name in arguments.clear}
    if cleared.keys() & {"network", "throttle"}:
        cleared |= {"network": "", "throttle": None}
    return msgspec.structs.replace(base, **cleared | given)


def _check(given: dict[str, Any]) -> None:
    if "network" in given and "throttle" in given:
        raise InvalidArgsError(
            '"network" cannot be combined with "throttle"',
            hint="network names a preset, throttle has figures of your own.",
        )
    locale = given.get("locale")
    if locale is not None and not LANGUAGE_TAG.fullmatch(locale):
        raise InvalidArgsError(
            f"locale: {locale!r} is not a language tag",
            hint="Give a language, and a region if it matters: de, pt-BR, ar-EG.",
        )
    place = given.get("geolocation")
    if place is not None:
        _check_place(place)
    if CONTROL.search(given.get("user_agent", "")):
        raise InvalidArgsError("user_agent: it has control characters in it")
    _check_headers(given.get("headers", {}))


def _check_place(place: GeolocationArgument) -> None:
    coordinates = [place.latitude, place.longitude].count(UNSET)
    if coordinates != (2 if place.denied else 0):
        raise InvalidArgsError(
            "geolocation: give exactly one of latitude with longitude, or denied: true"
        )


def _check_headers(headers: dict[str, str]) -> None:
    """Refuse what cannot be sent, or must not be. Values are secrets: none is repeated."""
    if len(headers) > MOST_HEADERS:
        raise InvalidArgsError(f"headers: at most {MOST_HEADERS}, not {len(headers)}")
    if len({name.lower() for name in headers}) < len(headers):
        raise InvalidArgsError("headers: a name is there twice, in different case")
    for name, value in headers.items():
        shown = name[:60]
        if not TOKEN.fullmatch(name):
            raise InvalidArgsError(f"headers: {shown!r} is not the name of a header")
        if OWN_HEADERS.fullmatch(name):
            raise InvalidArgsError(f"headers: {shown} is the browser's own to say")
        if name.lower() in SAID_OTHERWISE:
            other = SAID_OTHERWISE[name.lower()]
            raise InvalidArgsError(f'headers: say {shown} with the argument "{other}"')
        if CONTROL.search(value) or not value.isascii():
            raise InvalidArgsError(
                f"headers: the value of {shown} has characters that a header cannot have"
            )


async def run_emulate(engine: Engine, arguments: EmulateArguments, call: Call) -> Answer:
    """Change what is emulated, and say what is in force."""
    merged(Emulation(), arguments)  # refused before any browser starts
    session = engine.tab(arguments.tab)
    if not _asks_for_a_change(arguments):
        return Answer(value={"inForce": in_force(settings_of(session))} | dialogs(session))
    if arguments.headers:
        logger.info("extra headers: %s", ", ".join(arguments.headers))

    async def change(page: Page) -> Emulation:
        old = settings_of(session)
        new = merged(old, arguments)
        await emulate(page, old, new)
        session.keep("emulation", None if new == Emulation() else Standing(new))
        return new

    new = await session.act(change)
    value: dict[str, Any] = {"inForce": in_force(new)}
    if _given(arguments, "user_agent", "locale", "headers"):
        value["note"] = "Servers see user_agent, locale and headers from the next load on."
    return Answer(value=value | dialogs(session))


def _asks_for_a_change(arguments: EmulateArguments) -> bool:
    return bool(arguments.reset or arguments.clear or _given(arguments, *SETTINGS))


def settings_of(session: SessionTab) -> Emulation:
    """Return what is emulated on a tab."""
    standing = session.standing.get("emulation")
    return standing.settings if isinstance(standing, Standing) else Emulation()


def in_force(settings: Emulation) -> dict[str, Any]:
    """Return ``settings`` for an answer: of headers the names only."""
    nothing = Emulation()
    shown: dict[str, Any] = {
        name: msgspec.to_builtins(value)
        for name, value in msgspec.structs.asdict(settings).items()
        if value != getattr(nothing, name)
    }
    if settings.headers:
        shown["headers"] = list(settings.headers)
    if settings.network:
        shown["throttle"] = msgspec.to_builtins(throttle_of(settings))
    if settings.geolocation is not None:
        shown["geolocation"] = _told(settings.geolocation)
    return shown


def _told(place: Geolocation) -> dict[str, Any]:
    if place.denied:
        return {"denied": True}
    told: dict[str, Any] = msgspec.to_builtins(place)
    del told["denied"]
    return told


# --- the table --------------------------------------------------------------------------

EMULATION: tuple[Tool, ...] = (
    Tool(
        name="browser_resize",
        description="Set the viewport until reset: a preset (mobile 390x844, tablet 768x1024, "
        "desktop 1280x800), or width and height.",
        hints=Hints(read_only=False, idempotent=True, open_world=False),
        arguments=ResizeArguments,
        run=resize,
        default_timeout_ms=tool_time,
        returns="`resized` (true), `width`, `height`, `deviceScaleFactor`, `mobile`, `preset`, "
        "`reset`, `measured` (what the page sees: `innerWidth`, `innerHeight`, "
        "`devicePixelRatio`, `scrollX`, `scrollWidth`), `warning`.",
    ),
    Tool(
        name="browser_emulate",
        description="Emulate media, preferences, locale, place, device, network; add request "
        "headers. Settings add up and stay until cleared; no arguments: what is in force.",
        hints=Hints(read_only=False, idempotent=True, open_world=False),
        arguments=EmulateArguments,
        run=run_emulate,
        default_timeout_ms=tool_time,
        returns="`inForce`: every setting that is not the default, of `headers` the names; "
        "`note`.",
    ),
)
