"""Session tabs on a real browser, without the rest of an engine."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial

import trio

from vfa.actors import desk
from vfa.actors import encoder as encoder_actor
from vfa.actors.encoder import Encoder
from vfa.actors.tabs import Tabs
from vfa.engine import open_browser
from vfa.mailbox import Mailbox
from vfa.page.page import Silent


@asynccontextmanager
async def session_tab(config, witness=None):
    """Yield a browser and the first session tab on it."""
    async with session_tabs(config, witness) as (browser, tabs):
        yield browser, tabs.get(1)


@asynccontextmanager
async def session_tabs(config, witness=None):
    """Yield a browser and the tabs of a session on it."""
    asked, pictures = Mailbox("tabs"), Mailbox("encoder")
    with Tabs(asked, Encoder(pictures), config) as tabs:
        async with open_browser(config) as browser, trio.open_nursery() as nursery:
            await nursery.start(partial(encoder_actor.run, pictures, config))
            await nursery.start(
                partial(desk.run, asked, tabs, browser, config, witness or Silent())
            )
            yield browser, tabs
            nursery.cancel_scope.cancel()


async def evaluate(expression, page):
    answer = await page.session.call(
        "Runtime.evaluate",
        {"expression": expression, "returnByValue": True, "userGesture": True},
    )
    return answer["result"].get("value")
