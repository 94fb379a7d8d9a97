"""Faults at random moments of random operations: nothing is lost, nothing is left behind.

``VFA_CHAOS_FAULTS`` sets how many faults are tried, ``VFA_CHAOS_SEED`` which ones.
"""

from __future__ import annotations

import os
import random
import signal
from contextlib import suppress

import psutil
import pytest
import trio

from vfa.engine import open_engine
from vfa.errors import VfaError
from vfa.page.screenshot import Shot

pytestmark = pytest.mark.browser

FAULTS = int(os.environ.get("VFA_CHAOS_FAULTS", "10"))
SEED = int(os.environ.get("VFA_CHAOS_SEED", "20261201"))
PATIENCE = 25.0  # seconds for one call and for the one after it; a hang costs five
# What a call may say that was hit; anything else is a bug.
EXPECTED = {"CDP_ERROR", "TIMEOUT", "PAGE_CRASHED", "PICTURE_ERROR", "BROWSER_NOT_READY",
            "NAVIGATION_FAILED", "PAGE_ERROR", "EVAL_ERROR"}  # fmt: skip


def operations(engine, url):
    tab = engine.session
    return {
        "navigate": lambda: tab.navigate(url),
        "get_url": tab.get_url,
        "get_text": tab.get_text,
        "screenshot": lambda: tab.screenshot(Shot()),
        "full page": lambda: tab.screenshot(Shot(full_page=True)),
        "console": lambda: tab.console("all", clear=False),
        "audit": lambda: engine.audit(url, max_depth=0),
    }


def children(kind) -> list[psutil.Process]:
    """Our processes of a kind: the browser, one of its renderers, the picture process."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            line = process.cmdline()
            is_browser = any("user-data-dir" in part for part in line)
            types = [part for part in line if part.startswith("--type=")]
            if (
                (kind == "browser" and is_browser and not types)
                or (kind == "renderer" and types == ["--type=renderer"])
                or (kind == "pictures" and "-S" in line and not is_browser and not types)
            ):
                found.append(process)
    return found


def strike(kind, how) -> bool:
    for process in children(kind)[:1]:
        with suppress(psutil.Error):
            process.send_signal(how)
            return True
    return False


STRIKES = [
    ("browser", signal.SIGKILL),
    ("browser", signal.SIGKILL),
    ("browser", signal.SIGABRT),
    ("browser", signal.SIGSEGV),
    ("browser", signal.SIGSTOP),
    ("renderer", signal.SIGKILL),
    ("renderer", signal.SIGKILL),
    ("pictures", signal.SIGKILL),
]


async def test_whatever_dies_whenever_the_call_ends_and_the_next_one_works(
    config, site, profiles
):
    dice = random.Random(SEED)
    url = site.page(
        "/", "<h1>Still here</h1>" + "<p>text</p>" * 200 + "<script>console.log(1)</script>"
    )
    hits = 0
    async with open_engine(config) as engine:
        await engine.audit(url, max_depth=0)
        for number in range(FAULTS):
            name, operation = dice.choice(list(operations(engine, url).items()))
            kind, how = dice.choice(STRIKES)
            delay = dice.expovariate(1 / (0.6 if name == "audit" else 0.05))
            where = f"fault {number}: {how.name} on the {kind} {delay:.3f} s into {name}"
            with trio.move_on_after(PATIENCE) as patience:
                async with trio.open_nursery() as nursery:

                    async def call(operation=operation, where=where):
                        try:
                            await operation()
                        except VfaError as error:
                            if error.code not in EXPECTED:
                                raise AssertionError(f"{where}: {error!r}") from error

                    nursery.start_soon(call)
                    await trio.sleep(delay)
                    hits += strike(kind, how)
            assert not patience.cancelled_caught, f"{where}: the call did not end"
            with trio.move_on_after(PATIENCE) as patience:
                place = await engine.session.navigate(url)
                assert place.status == 200, where
                assert (await engine.session.get_text("h1")) == "Still here", where
            assert not patience.cancelled_caught, f"{where}: the next call did not end"
            assert len(profiles()) == 1, where
            assert len(children("browser")) <= 1, where
        async with engine.browser.lease() as link:
            contexts = await link.connection.call("Target.getBrowserContexts")
            assert contexts["browserContextIds"] == []
            assert link.connection.statistics.pending == 0
    assert hits > FAULTS // 3
    assert profiles() == []
    assert children("browser") == children("pictures") == []
