"""The coordinator: carries out audits, each in a browser context of its own.

Several audits may run side by side; each holds a lease on the browser, asks pages and the
encoder for what it needs, and ends with its context disposed, whatever happened. Giving up
on an audit stops it at once.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import trio

from vfa.actors.audit_run import AuditRun
from vfa.egress.hosts import read_hosts
from vfa.errors import BrowserError, ConnectionLostError
from vfa.mailbox import Mailbox, Request
from vfa.policy.resolve import Policy, check_target

if TYPE_CHECKING:
    from collections.abc import Callable

    from vfa.actors.browser import Browser
    from vfa.actors.encoder import Encoder
    from vfa.actors.error_bus import ErrorBus
    from vfa.audit.findings import Report
    from vfa.audit.request import AuditRequest, Progress
    from vfa.config import Config

logger = logging.getLogger(__name__)


class Audit(Request[Any], frozen=True):
    """Audit ``wanted``, telling ``progress`` how it gets on; answered with a ``Report``."""

    wanted: AuditRequest
    progress: Callable[[Progress], None]


class Coordinator:
    """How others reach the coordinator."""

    def __init__(self, mailbox: Mailbox[Audit]) -> None:
        self._mailbox = mailbox

    async def audit(
        self, request: AuditRequest, progress: Callable[[Progress], None]
    ) -> Report:
        """Audit a site; see ``Engine.audit``."""
        report: Report = await self._mailbox.ask(Audit(request, progress))
        return report


async def run(
    mailbox: Mailbox[Audit],
    browser: Browser,
    encoder: Encoder,
    errors: ErrorBus,
    config: Config,
    *,
    task_status: trio.TaskStatus[None],
) -> None:
    """Serve ``mailbox`` until cancelled."""
    policy = Policy.for_audits(config)

    async def handle(letter: Audit) -> Report:
        # Arguments and policy first: nothing starts a browser for a target that is refused.
        resolver = read_hosts(config.hosts)
        await check_target(letter.wanted.url, policy, resolver=resolver)
        started = trio.current_time()
        for last in (False, True):
            try:
                async with browser.lease() as link:
                    return await AuditRun(
                        link, letter.wanted, letter.progress, encoder, errors, config, started
                    ).run()
            except ConnectionLostError as error:
                # An audit changes nothing in the world, so it may be begun again.
                if last:
                    raise BrowserError(
                        "Chromium crashed twice during the audit",
                        hint="A page may crash it: audit each alone, with max_depth 0.",
                    ) from error
                logger.warning("the browser was lost during an audit: it begins again")
        raise AssertionError("unreachable")

    task_status.started()
    await mailbox.serve_concurrently(handle)
