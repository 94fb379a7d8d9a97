"""A page in a real browser, and an encoder beside it, without the rest of an engine."""

from __future__ import annotations

import io
from contextlib import asynccontextmanager
from functools import partial

import trio
from PIL import Image

from vfa.actors import encoder as encoder_actor
from vfa.actors.encoder import Encoder
from vfa.engine import open_browser
from vfa.mailbox import Mailbox
from vfa.page.navigation import navigate
from vfa.page.screenshot import capture


class Sight:
    """What a test does with a page that it takes pictures of."""

    def __init__(self, page, encoder):
        self.page = page
        self.encoder = encoder

    async def go(self, url):
        await navigate(self.page, url)

    async def take(self, shot):
        return await capture(self.page, self.encoder, shot)

    async def run(self, expression):
        answer = await self.page.session.call(
            "Runtime.evaluate",
            {"expression": expression, "returnByValue": True, "awaitPromise": True},
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def emulate(self, width, height, *, ratio=1, mobile=False):
        metrics = {
            "width": width,
            "height": height,
            "deviceScaleFactor": ratio,
            "mobile": mobile,
        }
        await self.page.session.call("Emulation.setDeviceMetricsOverride", metrics)


@asynccontextmanager
async def looking_at(config, url=None):
    pictures = Mailbox("encoder")
    async with open_browser(config) as browser, trio.open_nursery() as nursery:
        await nursery.start(partial(encoder_actor.run, pictures, config))
        async with browser.page() as page:
            sight = Sight(page, Encoder(pictures))
            if url is not None:
                await sight.go(url)
            yield sight
        nursery.cancel_scope.cancel()


def seen(data) -> Image.Image:
    """Return a capture, or the bytes of one, as a picture."""
    image = Image.open(io.BytesIO(getattr(data, "data", data)))
    return image.convert("RGB")


def is_near(color, wanted, tolerance=40) -> bool:
    return all(abs(a - b) <= tolerance for a, b in zip(color, wanted, strict=True))
