"""When is a page ready to be looked at?

``networkidle`` means: the load event came, then nothing was in flight for half a second,
where streams and long polls do not count. A page that never falls silent is looked at all
the same, ten seconds after its load event, and the reason that ended the wait is reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from vfa.page.page import Page

QUIET = 0.5  # seconds without a request in flight
CAP = 10.0  # seconds after load

MILESTONES = {"load": "load", "domcontentloaded": "DOMContentLoaded", "networkidle": "load"}


async def wait_until_ready(page: Page, wait_until: str) -> str:
    """Wait after navigation until the page is ready; return which condition ended the wait.

    Args:
        page: A tab whose document reached the milestone of ``wait_until``.
        wait_until: "load", "domcontentloaded" or "networkidle".
    """
    if wait_until != "networkidle":
        await page.settle()
        return wait_until
    with trio.move_on_after(CAP) as cap:
        await page.network.wait_for_silence(QUIET)
    await page.settle()
    if cap.cancelled_caught:
        return f"cap: still {page.network.loading()} requests in flight {CAP:g} s after load"
    return "networkidle"
