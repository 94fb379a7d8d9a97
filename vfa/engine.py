"""The engine: the tree of actors, who may ask whom, and the API of embedders.

    front, CLI, embedders
      └─ asks ─▶ coordinator ─ asks ─▶ browser, encoder        (audits, each in a context)
      └─ asks ─▶ tabs, each tab ─ asks ─▶ browser, encoder     (browser tools)
                        browser ──────▶ Chromium               (pipe or WebSocket)
                        encoder ──────▶ picture process        (pipes)
    error bus: everyone may publish, nobody waits

The children below are one ``rest_for_one`` line, in start order: what is to the right was
built on what is to the left, and is restarted with it. Mailboxes are owned here, so that
addresses survive restarts. The front is not in the line: it stays connected to its client
whatever crashes, and answers the calls in flight with an error.

The tabs are one child of the line: each tab is an actor of its own with a queue of its own,
and they run side by side. Their handles, and the numbers of those that are gone, are in the
table ``Tabs``, which lives as long as the engine.
"""

from __future__ import annotations

from contextlib import ExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import trio

from vfa.actors import browser as browser_actor
from vfa.actors import coordinator as coordinator_actor
from vfa.actors import desk as desk_actor
from vfa.actors import encoder as encoder_actor
from vfa.actors.browser import Acquire, Browser
from vfa.actors.coordinator import Audit, Coordinator
from vfa.actors.encoder import Encoder, Work
from vfa.actors.error_bus import ErrorBus
from vfa.actors.tabs import Ask, Tabs
from vfa.actors.witness import BusWitness
from vfa.audit.request import AuditRequest, Progress
from vfa.config import load
from vfa.egress.exits import check_settings
from vfa.mailbox import Mailbox
from vfa.policy.gate import Gate
from vfa.supervisor import Child, Limits, Supervisor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from vfa.actors.page import SessionTab
    from vfa.audit.findings import Report
    from vfa.config import Config

STOP_BROWSER = 8.0  # seconds; Chromium's own grace, its signals and its profile


def ignore(progress: Progress) -> None:
    """Take no notice of progress."""


class Engine:
    """What an embedder, the front and the command line see."""

    def __init__(self, config: Config) -> None:
        check_settings(config)
        self.config = config
        self.gate = Gate(config)
        self.errors = ErrorBus(config.error_buffer)
        self.mailboxes = (
            Mailbox[Work]("encoder", limit=encoder_actor.QUEUE_LIMIT),
            Mailbox[Acquire]("browser"),
            Mailbox[Ask]("tabs"),
            Mailbox[Audit]("coordinator"),
        )
        encoder, browser, tabs, audits = self.mailboxes
        self.encoder = Encoder(encoder)
        self.browser = Browser(browser, config)
        self.tabs = Tabs(tabs, self.encoder, config)
        self.coordinator = Coordinator(audits)

    @property
    def session(self) -> SessionTab:
        """The selected tab."""
        return self.tabs.selected

    def tab(self, number: int = 0) -> SessionTab:
        """Return the tab of that number; 0 is the selected one.

        Raises:
            TabGoneError: There is none, or none any more; never another tab.
        """
        return self.tabs.get(number)

    async def audit(
        self,
        request: AuditRequest | str,
        *,
        progress: Callable[[Progress], None] = ignore,
        **arguments: Any,
    ) -> Report:
        """Audit a page and what it links to.

        Args:
            request: What to audit, or just the URL.
            progress: Called as the audit gets on; must not block.
            arguments: With a plain URL, the other fields of ``AuditRequest``.

        Raises:
            LicenseError: A licence is demanded, and there is none that is good.
            InvalidUrlError: The URL is not an absolute http or https URL.
            SsrfBlockedError: It leads to an address that the policy refuses.
            NavigationFailedError: The entry page did not arrive.
            BrowserError: There is no Chromium to be had.
            DeadlineExceededError: The budget ended before anything was audited.
        """
        if isinstance(request, str):
            request = AuditRequest(url=str(request), **arguments)
        await self.gate.check("audit")
        return await self.coordinator.audit(request, progress)

    def children(self) -> list[Child]:
        """Return the supervision line."""
        encoder, browser, tabs, audits = self.mailboxes
        return [
            Child("encoder", partial(encoder_actor.run, encoder, self.config)),
            Child(
                "browser",
                partial(browser_actor.run, browser, self.browser, self.config),
                stop_timeout=STOP_BROWSER,
            ),
            Child(
                "tabs",
                partial(
                    desk_actor.run,
                    tabs,
                    self.tabs,
                    self.browser,
                    self.config,
                    BusWitness(self.errors),
                ),
            ),
            Child(
                "coordinator",
                partial(
                    coordinator_actor.run,
                    audits,
                    self.browser,
                    self.encoder,
                    self.errors,
                    self.config,
                ),
            ),
        ]


@asynccontextmanager
async def open_engine(config: Config | None = None) -> AsyncIterator[Engine]:
    """Run an engine for the length of the block; nothing is launched until it is needed.

    Args:
        config: The settings; those of the environment if None.

    Raises:
        ConfigError: A setting cannot be used.
        RestartsExhaustedError: In a group: an actor crashed more often than is allowed.
    """
    engine = Engine(config or load())
    with ExitStack() as stack:
        for mailbox in engine.mailboxes:
            stack.enter_context(mailbox)
        stack.enter_context(engine.tabs)
        async with _supervised(engine.children()):
            yield engine


@asynccontextmanager
async def open_browser(config: Config | None = None) -> AsyncIterator[Browser]:
    """Run the browser supervisor alone: ``async with browser.page() as page: …``."""
    config = config or load()
    with Mailbox[Acquire]("browser") as mailbox:
        browser = Browser(mailbox, config)
        child = Child(
            "browser",
            partial(browser_actor.run, mailbox, browser, config),
            stop_timeout=STOP_BROWSER,
        )
        async with _supervised([child]):
            yield browser


@asynccontextmanager
async def _supervised(children: list[Child]) -> AsyncIterator[None]:
    """Run a supervision line beside the block.

    An error of the block leaves it as it is: it would be wrapped in a group if the nursery
    saw it, and an embedder could not catch it by its class.
    """
    failure: Exception | None = None
    async with trio.open_nursery() as tree:
        await tree.start(Supervisor(children, Limits()).run)
        try:
            yield
        except Exception as error:  # carried past the nursery, not contained
            failure = error
        finally:
            tree.cancel_scope.cancel(reason="closed by its owner")
    if failure is not None:
        raise failure
