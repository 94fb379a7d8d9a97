"""A page of a real browser, without tools and queues: for tests of what is done on pages."""

from __future__ import annotations

from contextlib import asynccontextmanager

import trio

from vfa.engine import open_browser
from vfa.page.navigation import navigate

PATIENCE = 8.0  # seconds


@asynccontextmanager
async def live_page(config, url: str):
    """Open ``url`` in a browser of its own."""
    async with open_browser(config) as browser, browser.page() as page:
        with trio.fail_after(PATIENCE):
            await navigate(page, url)
        yield page


async def within(operation, seconds: float = PATIENCE):
    """Give an operation as much time as a call has."""
    with trio.fail_after(seconds):
        return await operation


async def until(expression: str, page, wanted=True) -> None:
    """Wait until ``expression`` has the value; look after each animation frame."""
    with trio.fail_after(PATIENCE):
        while (found := await evaluate(expression, page)) != wanted:
            await page.settle()
    assert found == wanted


async def evaluate(expression: str, page):
    """Return the value of an expression in the page's own world."""
    answer = await page.session.call(
        "Runtime.evaluate", {"expression": expression, "returnByValue": True}
    )
    assert "exceptionDetails" not in answer, answer["exceptionDetails"]
    return answer["result"].get("value")
