"""The tools that go places: navigate, get_url, back, forward, reload."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
import trio
from msgspec import Meta

from vfa.egress.hosts import read_hosts
from vfa.errors import DeadlineExceededError, SsrfBlockedError, VfaError
from vfa.page import history
from vfa.policy.network import Policy
from vfa.policy.redact import redact_url
from vfa.policy.resolve import check_target
from vfa.tools.answer import Answer
from vfa.tools.fields import TabNumber, TimeoutMs, dialogs, navigation_time, tool_time
from vfa.tools.table import Call, Hints, Tool, took_too_long

if TYPE_CHECKING:
    from vfa.actors.page import SessionTab
    from vfa.engine import Engine
    from vfa.page.history import Moved
    from vfa.page.navigation import Navigated

logger = logging.getLogger(__name__)

MAX_URL = 65_536  # characters; longer ones are a mistake, and cost the log and the answer
LEAVE_BOUND = 5.0  # seconds for leaving a page that must not be shown
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")
USABLE = (
    "The page may be usable all the same: try browser_get_text. "
    "For a slow site allow more with timeout_ms, or wait for less with wait_until."
)

Url = Annotated[str, Meta(max_length=MAX_URL, description="http(s) URL or about:blank.")]
WaitUntil = Literal["load", "domcontentloaded"]
MILESTONES = {"load": "load", "domcontentloaded": "DOMContentLoaded"}  # CDP's words

# --- browser_navigate ------------------------------------------------------------------


class NavigateArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_navigate``."""

    url: Url
    wait_until: WaitUntil = "load"
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def navigate(engine: Engine, arguments: NavigateArguments, call: Call) -> Answer:
    """Go to a URL, if the policy allows it by name and by every address it has."""
    await check_url(engine, arguments.url)
    session = engine.tab(arguments.tab)
    there = await go(engine, session, arguments.url, arguments.wait_until)
    return Answer(value=describe(there) | dialogs(session))


async def check_url(engine: Engine, url: str) -> None:
    """Judge a URL that a client wants to go to, by name and by every address it has.

    Raises:
        InvalidUrlError: It is none that a tab may show.
        SsrfBlockedError: The policy refuses its host.
    """
    logger.info("[MCP] Navigating to %s", redact_url(url))
    resolver = read_hosts(engine.config.hosts)
    await check_target(url, Policy.for_browser(engine.config), resolver=resolver)


async def go(engine: Engine, session: SessionTab, url: str, wait_until: WaitUntil) -> Navigated:
    """Go to a URL that was checked, and judge where that led.

    Raises:
        SsrfBlockedError: The document came from an address that the policy refuses.
    """
    there = await session.navigate(url, milestone=MILESTONES[wait_until])
    await judge(engine, session, there, urlsplit(url).hostname or "")
    return there


async def judge(engine: Engine, session: SessionTab, there: Navigated, host: str) -> None:
    """Judge the address that a document came from; leave it if it is refused."""
    if _behind_a_proxy():
        return
    try:
        Policy.for_browser(engine.config).check_address(there.remote_address, host)
    except SsrfBlockedError:
        # A redirect led there, or the name changed its address. What it holds is not for the
        # client: the next read must not find it.
        with trio.move_on_after(LEAVE_BOUND, shield=True):
            await session.navigate("about:blank")
        raise


def describe(there: Navigated) -> dict[str, Any]:
    """Return what every tool that goes somewhere answers."""
    value: dict[str, Any] = {"url": there.url, "title": there.title, "status": there.status}
    return value | ({"note": there.note} if there.note else {})


def _behind_a_proxy() -> bool:
    """Say whether what answers is a proxy's address and proves nothing."""
    return any(os.environ.get(name) or os.environ.get(name.upper()) for name in PROXY_VARIABLES)


def navigation_timeout(arguments: NavigateArguments, milliseconds: int) -> VfaError:
    """Return the failure of a page that did not load in time."""
    return DeadlineExceededError(
        f"Navigation timeout after {milliseconds} ms: {redact_url(arguments.url[:500])}",
        hint=USABLE,
    )


# --- browser_get_url -------------------------------------------------------------------


class GetUrlArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_get_url``."""

    tab: TabNumber = 0


async def get_url(engine: Engine, arguments: GetUrlArguments, call: Call) -> Answer:
    """Say where the tab is."""
    location = await engine.tab(arguments.tab).get_url()
    return Answer(
        value={
            "url": location.url,
            "title": location.title,
            "readyState": location.ready_state,
        }
    )


# --- browser_back, browser_forward, browser_reload ---------------------------------------


class MoveArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_back`` and ``browser_forward``."""

    wait_until: WaitUntil = "load"
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


class ReloadArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_reload``."""

    ignore_cache: bool = False
    wait_until: WaitUntil = "load"
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def back(engine: Engine, arguments: MoveArguments, call: Call) -> Answer:
    """Go back by one page."""
    return await _step(engine, arguments, -1)


async def forward(engine: Engine, arguments: MoveArguments, call: Call) -> Answer:
    """Go forward by one page."""
    return await _step(engine, arguments, 1)


async def _step(engine: Engine, arguments: MoveArguments, steps: int) -> Answer:
    session = engine.tab(arguments.tab)
    milestone = MILESTONES[arguments.wait_until]

    async def check(url: str) -> None:
        await check_url(engine, url)

    moved = await session.leave(
        lambda page: history.step(page, steps, check, milestone=milestone)
    )
    return await _moved(engine, session, moved)


async def reload(engine: Engine, arguments: ReloadArguments, call: Call) -> Answer:
    """Load the page anew."""
    session = engine.tab(arguments.tab)
    moved = await session.leave(
        lambda page: history.reload(
            page,
            ignore_cache=arguments.ignore_cache,
            milestone=MILESTONES[arguments.wait_until],
        )
    )
    return await _moved(engine, session, moved)


async def _moved(engine: Engine, session: SessionTab, moved: Moved) -> Answer:
    await judge(engine, session, moved.there, urlsplit(moved.there.url).hostname or "")
    return Answer(value=describe(moved.there) | {"moved": moved.moved} | dialogs(session))


def moving_timeout(tool: str) -> Any:
    """Return what makes the failure of a tool whose page did not load in time."""

    def expired(arguments: Any, milliseconds: int) -> VfaError:
        error = took_too_long(tool, milliseconds)
        return DeadlineExceededError(error.message, hint=USABLE)

    return expired


# --- the table --------------------------------------------------------------------------

NAVIGATING: tuple[Tool, ...] = (
    Tool(
        name="browser_navigate",
        description="Open a URL in the tab and wait until it is loaded.",
        hints=Hints(read_only=False, idempotent=True),
        arguments=NavigateArguments,
        run=navigate,
        default_timeout_ms=navigation_time,
        expired=navigation_timeout,
        returns="`url` (after redirects), `title`, `status` (HTTP; null: there was none), "
        "`note` on what is unusual.",
    ),
    Tool(
        name="browser_get_url",
        description="The tab's url, title and readyState; works even if the page hangs.",
        hints=Hints(read_only=True, open_world=False),
        arguments=GetUrlArguments,
        run=get_url,
        default_timeout_ms=tool_time,
        returns="`url`, `title`, `readyState`.",
    ),
    Tool(
        name="browser_back",
        description="Go back in the tab's history; moved is false at its start.",
        hints=Hints(read_only=False),
        arguments=MoveArguments,
        run=back,
        default_timeout_ms=navigation_time,
        expired=moving_timeout("browser_back"),
        returns="`url`, `title`, `status`, `moved` (false: nothing to go to), `note`.",
    ),
    Tool(
        name="browser_forward",
        description="Go forward in the tab's history; moved is false at its end.",
        hints=Hints(read_only=False),
        arguments=MoveArguments,
        run=forward,
        default_timeout_ms=navigation_time,
        expired=moving_timeout("browser_forward"),
        returns="As browser_back: `url`, `title`, `status`, `moved`, `note`.",
    ),
    Tool(
        name="browser_reload",
        description="Load the page again; ignore_cache fetches everything anew.",
        hints=Hints(read_only=False),
        arguments=ReloadArguments,
        run=reload,
        default_timeout_ms=navigation_time,
        expired=moving_timeout("browser_reload"),
        returns="`url`, `title`, `status`, `moved` (true), `note`.",
    ),
)
