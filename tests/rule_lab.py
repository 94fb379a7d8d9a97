"""A laboratory for rules: pages are loaded in one Chromium, evidence comes back.

``Lab.load(url)`` is the seam: how a page is loaded is hidden behind it. The browser lives in
a thread of its own with its own trio, so that one serves all tests of a module, whatever
event loop they run in.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import urllib.error
import urllib.request
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple
from urllib.parse import urldefrag

import msgspec
import trio

from vfa.audit.evidence import Facts, LinkCheck, PageEvidence, ProbeResult
from vfa.audit.json_body import claims_json, json_fault
from vfa.cdp.connection import Connection
from vfa.cdp.pipe import PipeTransport
from vfa.cdp.session import Session
from vfa.chromium.find import find_chromium
from vfa.page.navigation import navigate
from vfa.page.page import Page
from vfa.process import pipe, process_group

PATIENCE = 60  # seconds for one page, on a busy machine
QUIET = 0.15  # seconds without a request: fixtures do not wait longer, and there are many
FLAGS = (
    "--remote-debugging-pipe",
    "--enable-blink-features=ComputedAccessibilityInfo",
    "--no-first-run",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
    "--hide-scrollbars",
)
DEVICES = {"desktop": (1440, 900), "mobile": (390, 844)}


class Lab(NamedTuple):
    """What tests hold: calls run in the laboratory's thread."""

    connection: Connection
    token: trio.lowlevel.TrioToken

    def load(self, url, device="desktop", *, probe=False):
        """Load a page and return its evidence."""
        return self.run(_load, url, device, probe)

    def cost(self, url):
        """Return the CPU time, in milliseconds, that collecting a page takes its renderer."""
        return self.run(_cost, url)

    def run(self, function, *arguments):
        """Call an async function of the connection in the laboratory's thread."""
        return trio.from_thread.run(
            function, self.connection, *arguments, trio_token=self.token
        )


@contextmanager
def open_lab(flags=FLAGS):
    """Start Chromium in a thread; stop it, and leave nothing, when the block ends."""
    ready = threading.Event()
    shared = {}

    async def main():
        try:
            async with _browser(flags) as connection:
                shared["lab"] = Lab(connection, trio.lowlevel.current_trio_token())
                shared["stop"] = trio.Event()
                ready.set()
                await shared["stop"].wait()
        finally:
            ready.set()

    thread = threading.Thread(target=trio.run, args=(main,))
    thread.start()
    ready.wait()
    try:
        yield shared["lab"]
    finally:
        if "stop" in shared:
            trio.from_thread.run_sync(shared["stop"].set, trio_token=shared["lab"].token)
        thread.join()


@asynccontextmanager
async def _browser(flags):
    profile = tempfile.mkdtemp(prefix="vfa-lab-")
    command = [find_chromium("").path, *flags, f"--user-data-dir={profile}"]
    if os.geteuid() == 0:
        command.append("--no-sandbox")
    try:
        with pipe() as (their_in, our_out), pipe() as (our_in, their_out):
            transport = PipeTransport(os.dup(our_in), os.dup(our_out))
            async with process_group(
                [str(part) for part in command],
                {3: their_in, 4: their_out},
                env=os.environ | {"TMPDIR": profile},
                grace=2,
            ):
                async with trio.open_nursery() as nursery:
                    connection = Connection(transport)
                    await nursery.start(connection.run)
                    yield connection
                    connection.post("Browser.close")
                    nursery.cancel_scope.cancel()
    finally:
        shutil.rmtree(profile, ignore_errors=True)


async def _load(connection, url, device, probe):
    with trio.fail_after(PATIENCE):
        async with _tab(connection, device) as page:
            return await _collect(page, url, device, probe)


async def _cost(connection, url):
    with trio.fail_after(PATIENCE):
        async with _tab(connection, "desktop") as page:
            await navigate(page, url)
            await page.session.call("Performance.enable", {"timeDomain": "threadTicks"})
            before = await _thread_time(page)
            await _facts(page)
            return await _thread_time(page) - before


async def _thread_time(page):
    answer = await page.session.call("Performance.getMetrics")
    metrics = {metric["name"]: metric["value"] for metric in answer["metrics"]}
    return metrics["TaskDuration"] * 1000


async def _facts(page):
    # Keeps one accessibility tree alive, from which roles and names are then read at once.
    await page.session.call("Accessibility.enable")
    await page.session.call("Accessibility.getRootAXNode")
    facts = await page.call("collect", {}, result=Facts)
    page.session.post("Accessibility.disable")
    return facts


@asynccontextmanager
async def _tab(connection, device):
    context = await connection.call("Target.createBrowserContext")
    context_id = context["browserContextId"]
    try:
        yield await _open_page(connection, context_id, device)
    finally:
        connection.post("Target.disposeBrowserContext", {"browserContextId": context_id})


async def _open_page(connection, context_id, device):
    made = await connection.call(
        "Target.createTarget", {"url": "about:blank", "browserContextId": context_id}
    )
    attached = await connection.call(
        "Target.attachToTarget", {"targetId": made["targetId"], "flatten": True}
    )
    page = Page(Session(connection, attached["sessionId"]), made["targetId"])
    await page.prepare()
    width, height = DEVICES[device]
    await page.session.call(
        "Emulation.setDeviceMetricsOverride",
        {
            "width": width,
            "height": height,
            "deviceScaleFactor": 1,
            "mobile": device == "mobile",
        },
    )
    return page


async def _collect(page, url, device, probe):
    arrived = await navigate(page, url)
    with trio.move_on_after(PATIENCE):
        await page.network.wait_for_silence(QUIET)
    await page.settle()
    facts = await _facts(page)
    requests = page.network.records()
    checks = await trio.to_thread.run_sync(_check_links, facts, arrived.url)
    faults = await trio.to_thread.run_sync(_check_json, requests)
    probes = await _probe(page, facts) if probe else ()
    page.close()
    return PageEvidence(
        url=url,
        final_url=arrived.url,
        status=arrived.status,
        device=device,
        viewport=DEVICES[device],
        facts=facts,
        requests=requests,
        console=page.console.messages() if hasattr(page.console, "messages") else (),
        exceptions=tuple(page.exceptions),
        link_checks=checks,
        json_faults=faults,
        dead_controls=probes,
    )


def _check_links(facts, page_url):
    origin = "/".join(page_url.split("/")[:3])
    targets = {urldefrag(link.url).url for link in facts.links}
    return {url: _status(url) for url in sorted(targets) if url.startswith(origin + "/")}


def _status(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return LinkCheck(status=answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return LinkCheck(status=error.code)
    except OSError as error:
        return LinkCheck(error=str(error))


def _check_json(requests):
    faults = {}
    for request in requests:
        if claims_json(request.mime_type) and request.status == 200:
            with urllib.request.urlopen(request.url, timeout=5) as answer:
                fault = json_fault(answer.read())
            if fault:
                faults[request.url] = fault
    return faults


# Clicks the element that `selector` names and tells what could be seen of it within a while.
PROBE = """
async (selector) => {
  const element = document.querySelector(selector);
  const effects = new Set();
  const observer = new MutationObserver(() => effects.add("dom"));
  const everything = {subtree: true, childList: true, attributes: true, characterData: true};
  observer.observe(document, everything);
  const before = [location.href.split("#")[0], location.hash, scrollY];
  element.click();
  await new Promise((resolve) => setTimeout(resolve, 200));
  observer.disconnect();
  if (location.href.split("#")[0] !== before[0]) effects.add("navigation");
  if (location.hash !== before[1]) effects.add("fragment");
  if (scrollY !== before[2]) effects.add("scroll");
  return [...effects];
}
"""


async def _probe(page, facts):
    probes = []
    for control in facts.controls:
        if not control.probe:
            continue
        skipped = "danger" if control.danger else "submits" if control.submits else ""
        answer = {"result": {"value": []}}
        if not skipped:
            expression = f"({PROBE})({msgspec.json.encode(control.selector).decode()})"
            answer = await page.session.call(
                "Runtime.evaluate",
                {"expression": expression, "awaitPromise": True, "returnByValue": True},
            )
        probes.append(
            ProbeResult(
                selector=control.selector,
                name=control.name,
                role=control.role,
                box=control.box,
                html=control.html,
                effects=tuple(answer["result"]["value"]),
                clicked=not skipped,
                skipped_reason=skipped,
            )
        )
    return tuple(probes)
