"""Emulating another device, place or network: settings, and the commands that make them so.

``Emulation`` is everything that is in force on a tab; its default is nothing. ``commands`` is
pure: settings in, CDP commands out, by facet, the ones that undo a facet included. So a
change is the facets whose commands differ, and taking it back is the old commands again.

Frames of other sites and workers have sessions of their own: they are told the same, before
they run. Their refusals are not listened to: a worker has no media, and a frame in the
tab's own process shares its time zone with it already.

Source: CDP domains ``Emulation``, ``Network``, ``Browser.setPermission``; throttling presets as
in Chromium's DevTools.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from vfa.errors import CdpError, InvalidArgsError
from vfa.page.user_agent import client_hints, platform_of

if TYPE_CHECKING:
    from vfa.cdp.session import Session
    from vfa.page.page import Page

NO_LIMIT = -1.0  # CDP's word for "as fast as it goes"
TOUCH_POINTS = 5  # fingers; what phones report
KBPS = 1000 / 8  # bytes a second


class Geolocation(msgspec.Struct, frozen=True):
    """Where the device says it is; ``denied``: it does not say."""

    latitude: float = 0.0  # degrees
    longitude: float = 0.0
    accuracy: float = 10.0  # metres
    denied: bool = False


class Throttle(msgspec.Struct, frozen=True):
    """A slow network. Zero is no limit."""

    latency_ms: float = 0.0  # added to each request
    download_kbps: float = 0.0  # kilobits a second
    upload_kbps: float = 0.0


# What DevTools means by these names, its correction factors applied.
NETWORKS = {
    "slow-3g": Throttle(2000, 400, 400),
    "fast-3g": Throttle(562.5, 1440, 675),
    "slow-4g": Throttle(562.5, 1440, 675),
    "fast-4g": Throttle(165, 8100, 1350),
}


class Emulation(msgspec.Struct, frozen=True):
    """What is emulated; a default is the browser's own."""

    media: str = ""
    color_scheme: str = ""
    reduced_motion: str = ""
    forced_colors: str = ""
    contrast: str = ""
    locale: str = ""
    timezone: str = ""
    geolocation: Geolocation | None = None
    user_agent: str = ""
    offline: bool = False
    network: str = ""  # a key of ``NETWORKS``
    throttle: Throttle | None = None
    cpu_slowdown: float = 1.0  # times slower
    touch: bool = False
    vision: str = ""
    headers: dict[str, str] = {}  # with every request of the tab


class Command(msgspec.Struct, frozen=True):
    """One CDP command."""

    method: str
    params: dict[str, Any]

    @property
    def to_browser(self) -> bool:
        """Whether it is for the browser rather than for a session of the tab."""
        return self.method.startswith("Browser.")


def commands(settings: Emulation) -> dict[str, tuple[Command, ...]]:
    """Return the commands that bring each facet of ``settings`` about."""
    return {
        "media": (_media(settings),),
        "locale": (Command("Emulation.setLocaleOverride", {"locale": settings.locale}),),
        "timezone": _timezone(settings.timezone),
        "user_agent": (_user_agent(settings),),
        "geolocation": _geolocation(settings.geolocation),
        "network": (_network(settings),),
        "cpu_slowdown": (
            Command("Emulation.setCPUThrottlingRate", {"rate": settings.cpu_slowdown}),
        ),
        "touch": (_touch(enabled=settings.touch),),
        "vision": (
            Command(
                "Emulation.setEmulatedVisionDeficiency", {"type": settings.vision or "none"}
            ),
        ),
        "headers": (Command("Network.setExtraHTTPHeaders", {"headers": settings.headers}),),
    }


def changes(old: Emulation, new: Emulation) -> dict[str, tuple[Command, ...]]:
    """Return the commands that lead from ``old`` to ``new``, by facet."""
    before = commands(old)
    return {facet: wanted for facet, wanted in commands(new).items() if wanted != before[facet]}


async def emulate(page: Page, old: Emulation, new: Emulation) -> None:
    """Bring ``new`` about where ``old`` is in force; all of it or, on a failure, nothing.

    Raises:
        InvalidArgsError: Chromium refused a value; the message says which.

    On cancellation ``old`` stays in force.
    """
    if new.locale not in {"", old.locale}:
        await _check_locale(page, new.locale)
    page.acted = True
    back = changes(new, old)
    done: list[str] = []
    try:
        for facet, wanted in changes(old, new).items():
            done.append(facet)
            for command in wanted:
                await _send(page, command, facet)
    except BaseException:
        for facet in done:
            for command in back[facet]:
                _post(page, command)
        raise
    _tell_children(page, old, new)


class Standing:
    """The standing order that brings settings about on each new page of a tab."""

    def __init__(self, settings: Emulation) -> None:
        self.settings = settings

    async def __call__(self, page: Page) -> None:
        """Send everything, and wait for nothing: what follows comes after it."""
        for wanted in changes(Emulation(), self.settings).values():
            for command in wanted:
                _post(page, command)
        _tell_children(page, Emulation(), self.settings)


async def _check_locale(page: Page, locale: str) -> None:
    if not await page.call("supports_locale", locale, result=bool):
        raise InvalidArgsError(
            f"locale: Chromium knows no locale {locale!r}",
            hint="Give a language, and a region if it matters: de, pt-BR, ar-EG.",
        )


async def _send(page: Page, command: Command, facet: str) -> None:
    try:
        if command.to_browser:
            await page.connection.call(command.method, command.params)
        else:
            await page.session.call(command.method, command.params)
    except CdpError as error:
        raise InvalidArgsError(
            f"{facet}: Chromium did not take it: {error.message}",
            hint=HINTS.get(facet, "Nothing was changed."),
        ) from error


HINTS = {
    "timezone": "Give an IANA name such as Europe/Berlin. Nothing was changed.",
    "locale": "Give a language, and a region if it matters: de, pt-BR. Nothing was changed.",
}


def _post(page: Page, command: Command) -> None:
    if command.to_browser:
        page.connection.post(command.method, command.params)
    else:
        page.session.post(command.method, command.params)


def _tell_children(page: Page, old: Emulation, new: Emulation) -> None:
    """Tell the children there are what has changed, and those to come everything."""
    for child in page.children():
        _tell(changes(old, new), child)
    everything = changes(Emulation(), new)
    page.for_children("emulation", partial(_tell, everything) if everything else None)


def _tell(wanted: dict[str, tuple[Command, ...]], child: Session) -> None:
    for facet in wanted.values():
        for command in facet:
            if not command.to_browser:
                child.post(command.method, command.params)


# --- facets -------------------------------------------------------------------------------


def _media(settings: Emulation) -> Command:
    features = {
        "prefers-color-scheme": settings.color_scheme,
        "prefers-reduced-motion": settings.reduced_motion,
        "forced-colors": settings.forced_colors,
        "prefers-contrast": settings.contrast,
    }
    chosen = [{"name": name, "value": value} for name, value in features.items() if value]
    return Command("Emulation.setEmulatedMedia", {"media": settings.media, "features": chosen})


def _timezone(name: str) -> tuple[Command, ...]:
    # Chromium checks the name only where no override is in force yet.
    return tuple(
        Command("Emulation.setTimezoneOverride", {"timezoneId": each})
        for each in dict.fromkeys(("", name))
    )


def _user_agent(settings: Emulation) -> Command:
    agent = settings.user_agent
    params: dict[str, Any] = {
        "userAgent": agent,
        "acceptLanguage": _accepted(settings.locale),
        "platform": platform_of(agent),
    }
    hints = client_hints(agent)
    if hints is not None:
        params["userAgentMetadata"] = hints
    return Command("Emulation.setUserAgentOverride", params)


def _accepted(locale: str) -> str:
    """Return the languages that a user of ``locale`` accepts: de-DE, and then de."""
    language = locale.partition("-")[0]
    return locale if language == locale else f"{locale},{language}"


def _geolocation(place: Geolocation | None) -> tuple[Command, ...]:
    setting = "prompt" if place is None else "denied" if place.denied else "granted"
    allowed = Command(
        "Browser.setPermission", {"permission": {"name": "geolocation"}, "setting": setting}
    )
    if place is None or place.denied:
        return (Command("Emulation.clearGeolocationOverride", {}), allowed)
    position = {
        "latitude": place.latitude,
        "longitude": place.longitude,
        "accuracy": place.accuracy,
    }
    return (Command("Emulation.setGeolocationOverride", position), allowed)


def throttle_of(settings: Emulation) -> Throttle:
    """Return the limits in force, a preset's or the caller's own."""
    return NETWORKS.get(settings.network) or settings.throttle or Throttle()


def _network(settings: Emulation) -> Command:
    limits = throttle_of(settings)
    return Command(
        "Network.emulateNetworkConditions",
        {
            "offline": settings.offline,
            "latency": limits.latency_ms,
            "downloadThroughput": limits.download_kbps * KBPS or NO_LIMIT,
            "uploadThroughput": limits.upload_kbps * KBPS or NO_LIMIT,
        },
    )


def _touch(*, enabled: bool) -> Command:
    params: dict[str, Any] = {"enabled": enabled}
    if enabled:
        params["maxTouchPoints"] = TOUCH_POINTS
    return Command("Emulation.setTouchEmulationEnabled", params)
