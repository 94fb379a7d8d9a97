"""An engine without a browser: answers from a script, and remembers what it was asked.

What it does depends on the path of the URL it is told to go to or to audit.
"""

from __future__ import annotations

import base64
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import trio

from vfa.actors.error_bus import ErrorBus
from vfa.actors.news import News
from vfa.actors.page import ConsolePage
from vfa.audit.findings import Finding, Report, Screenshot
from vfa.audit.request import Progress
from vfa.errors import NavigationFailedError, TabGoneError
from vfa.page.downloads import DownloadBook
from vfa.page.navigation import Navigated
from vfa.page.records import ConsoleMessage, Dialog
from vfa.page.screenshot import Capture
from vfa.page.text import Location, PageText

JPEG = b"\xff\xd8\xff\xe0 not really"
NOON = 1_736_850_161.512


class FakeSession:
    def __init__(self) -> None:
        self.calls = []
        self.abandoned = []  # operations that were cancelled
        self.text = "Hello"
        self.title = "Fake"
        self.reset = None
        self.dialogs = []
        self.remote_address = ""
        self.messages = ()
        self.dropped = 0

    async def navigate(self, url, *, milestone="load"):
        self.calls.append(("navigate", url))
        match urlsplit(url).path:
            case "/slow":
                await self.never("navigate")
            case "/bug":
                raise KeyError("a bug")
            case "/fail":
                raise NavigationFailedError(
                    "net::ERR_CONNECTION_REFUSED",
                    net_error="net::ERR_CONNECTION_REFUSED",
                    hint="Start it.",
                )
            case "/print":
                print("this is not JSON")  # noqa: T201
            case "/crash":
                self.reset = "Chromium restarted after a crash"
        return Navigated(url, self.title, 200, remote_address=self.remote_address)

    async def never(self, what):
        try:
            await trio.sleep_forever()
        finally:
            self.abandoned.append(what)
            self.messages += (
                ConsoleMessage(level="log", text=f"{what} was cancelled", timestamp=NOON),
            )

    async def get_url(self):
        return Location("http://127.0.0.1/", self.title, "complete")

    async def get_text(self, selector=""):
        if selector == "#never":
            await self.never("get_text")
        return self.text

    async def read_text(self, selector="", ref=""):
        return PageText(await self.get_text(selector))

    async def screenshot(self, shot):
        self.calls.append(("screenshot", shot))
        return Capture(JPEG, 10, 20, 1.0, False, 10.0, 20.0)

    async def console(self, level, *, clear):
        kept = tuple(m for m in self.messages if level in {"all", m.level})
        if clear:
            self.messages = ()
        return ConsolePage(kept, self.dropped)

    def take_reset(self):
        reset, self.reset = self.reset, None
        return reset

    def take_news(self):
        dialogs, self.dialogs = tuple(self.dialogs), []
        return News(dialogs=dialogs)


class FakeTabs:
    """One tab that is always there; numbers beyond it are gone."""

    def __init__(self, session) -> None:
        self._session = session
        self.downloads = DownloadBook()

    def get(self, number=0):
        if number > 1:
            raise TabGoneError(f"tab {number} does not exist.", hint="Open tabs: 1 (selected).")
        return self._session

    def take_reset(self):
        return self._session.take_reset()


class FakeEngine:
    def __init__(self, config) -> None:
        self.config = config
        self.errors = ErrorBus(config.error_buffer)
        self.session = FakeSession()
        self.tabs = FakeTabs(self.session)
        self.requests = []

    def tab(self, number=0):
        return self.tabs.get(number)

    async def audit(self, request, *, progress):
        self.requests.append(request)
        path = urlsplit(request.url).path
        progress(Progress("loading", 0, 1, request.url))
        if path == "/slow":
            await self.session.never("audit")
        if path == "/bug":
            raise KeyError("a bug")
        if path == "/steps":
            for done in range(3):
                progress(Progress("inspecting", done, 3, request.url))
                await trio.sleep(0.02)
        return report(request.url)


def report(url, findings=1, pictures=1):
    data = base64.b64encode(JPEG).decode()
    return Report(
        url=url,
        run_id="run-1",
        started_at="2025-01-14T10:22:41.512Z",
        duration_ms=1200,
        findings=tuple(
            Finding(
                id=f"FND-{number:03d}",
                severity="high",
                category="functional",
                title="Primary button does nothing",
                description="Clicking 'Start' produces no navigation. " * 5,
            )
            for number in range(1, findings + 1)
        ),
        metrics={"pages_audited": 1},
        screenshots=tuple(
            Screenshot(name="viewport", mime_type="image/jpeg", data=data, path="/out/1.jpg")
            for _ in range(pictures)
        ),
    )


def dialog(message="Sure?"):
    return Dialog(kind="confirm", message=message, accepted=False)


@asynccontextmanager
async def open_fake_engine(config):
    yield FakeEngine(config)
