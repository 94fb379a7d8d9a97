"""The tools that go places: navigate, get_url."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import trio
from msgspec import Meta

from vfa.errors import DeadlineExceededError, SsrfBlockedError, VfaError
from vfa.policy.network import Policy
from vfa.policy.redact import redact_url
from vfa.policy.resolve import check_target
from vfa.tools.answer import Answer
from vfa.tools.fields import NoArguments, TimeoutMs, dialogs, navigation_time, tool_time
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.engine import Engine

logger = logging.getLogger(__name__)

MAX_URL = 65_536  # characters; longer ones are a mistake, and cost the log and the answer
LEAVE_BOUND = 5.0  # seconds for leaving a page that must not be shown
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")

# --- browser_navigate ------------------------------------------------------------------


class NavigateArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_navigate``."""

    url: Annotated[str, Meta(max_length=MAX_URL, description="http(s) URL or about:blank.")]
    timeout_ms: TimeoutMs = 0


async def navigate(engine: Engine, arguments: NavigateArguments, call: Call) -> Answer:
    """Go to a URL, if the policy allows it by name and by every address it has."""
    policy = Policy.for_browser(engine.config)
    logger.info("[MCP] Navigating to %s", redact_url(arguments.url))
    target = await check_target(arguments.url, policy)
    session = engine.session
    there = await session.navigate(arguments.url)
    if not _behind_a_proxy():
        try:
            policy.check_address(there.remote_address, target.host)
        except SsrfBlockedError:
            # A redirect led there, or the name changed its address. What it holds is not
            # for the client: the next read must not find it.
            with trio.move_on_after(LEAVE_BOUND, shield=True):
                await session.navigate("about:blank")
            raise
    value: dict[str, Any] = {"url": there.url, "title": there.title, "status": there.status}
    if there.note:
        value["note"] = there.note
    return Answer(value=value | dialogs(session))


def _behind_a_proxy() -> bool:
    """Say whether what answers is a proxy's address and proves nothing."""
    return any(os.environ.get(name) or os.environ.get(name.upper()) for name in PROXY_VARIABLES)


def navigation_timeout(arguments: NavigateArguments, milliseconds: int) -> VfaError:
    """Return the failure of a page that did not load in time."""
    return DeadlineExceededError(
        f"Navigation timeout after {milliseconds} ms: {redact_url(arguments.url[:500])}",
        hint="The page may be usable all the same: try browser_get_text. "
        "For a slow site allow more with timeout_ms.",
    )


# --- browser_get_url -------------------------------------------------------------------


async def get_url(engine: Engine, arguments: NoArguments, call: Call) -> Answer:
    """Say where the tab is."""
    location = await engine.session.get_url()
    return Answer(
        value={
            "url": location.url,
            "title": location.title,
            "readyState": location.ready_state,
        }
    )


# --- the table --------------------------------------------------------------------------

NAVIGATING: tuple[Tool, ...] = (
    Tool(
        name="browser_navigate",
        description="Open a URL in the tab and wait until it is loaded. "
        "Returns url (after redirects), title and HTTP status.",
        hints=Hints(title="Navigate", read_only=False, idempotent=True),
        arguments=NavigateArguments,
        run=navigate,
        default_timeout_ms=navigation_time,
        expired=navigation_timeout,
    ),
    Tool(
        name="browser_get_url",
        description="Where the tab is: url, title, readyState. Answers even if the page hangs.",
        hints=Hints(title="Get URL", read_only=True, open_world=False),
        arguments=NoArguments,
        run=get_url,
        default_timeout_ms=tool_time,
    ),
)
