"""A session tab on a real browser, without the rest of an engine."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial

import trio

from vfa.actors import encoder as encoder_actor
from vfa.actors import page as page_actor
from vfa.actors.encoder import Encoder
from vfa.actors.page import SessionTab
from vfa.engine import open_browser
from vfa.mailbox import Mailbox
from vfa.page.page import Silent


@asynccontextmanager
async def session_tab(config, witness=None):
    """Yield a browser and a session tab on it."""
    acts, reads = Mailbox("session tab", limit=config.queue_limit), Mailbox("reads")
    pictures = Mailbox("encoder")
    tab = SessionTab(acts, reads, Encoder(pictures))
    async with open_browser(config) as browser, trio.open_nursery() as nursery:
        await nursery.start(partial(encoder_actor.run, pictures, config))
        await nursery.start(
            partial(page_actor.run, acts, reads, tab, browser, config, witness or Silent())
        )
        yield browser, tab
        nursery.cancel_scope.cancel()


async def evaluate(expression, page):
    answer = await page.session.call(
        "Runtime.evaluate", {"expression": expression, "returnByValue": True}
    )
    return answer["result"].get("value")
