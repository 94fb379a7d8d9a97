"""Input events by the burst: handed over at once, awaited as one.

What goes down goes up again in the same burst, and a caller that gives up takes none of it
back. So no key, no modifier and no mouse button is ever left down, however a call ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import trio

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vfa.page.page import Page

Command = tuple[str, dict[str, Any]]  # method and parameters


async def send(page: Page, burst: Sequence[Command], then: Iterable[Command] = ()) -> None:
    """Send commands in one go and wait for the answer to the last, then send the others.

    On cancellation all are sent, or none. ``then`` is for keys that are held for the mouse:
    between a key and the mouse Chromium keeps no order unless one is waited for.

    A dialog that is held ends the wait: the event that opened it is answered after it.
    """
    *before, (method, params) = burst
    await trio.lowlevel.checkpoint_if_cancelled()
    page.acted = True
    for each, its_params in before:
        page.session.post(each, its_params)
    session_id = page.session.id
    try:
        with trio.CancelScope() as scope, page.dialogs.ending(scope):
            await page.connection.call(method, params, session_id=session_id, surely=True)
    finally:
        for each, its_params in then:
            page.session.post(each, its_params)
