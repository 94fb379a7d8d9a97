"""Going to a URL, and knowing when one has arrived.

Everything is decided by events: the answer to ``Page.navigate`` says whether a new document
comes at all (same-document moves, downloads and 204 answers bring none), its loader id says
which load event is ours, and a redirect that the page itself starts is followed before the
tab is called loaded.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.cdp.session import Session
from vfa.errors import NavigationFailedError, SsrfBlockedError
from vfa.page.text import locate
from vfa.page.way_out import TELLTALES

if TYPE_CHECKING:
    from vfa.page.page import Page

MAX_CLIENT_REDIRECTS = 5  # a page that sends the tab round in circles is shown as it is

ERROR_PAGE = 0.5  # seconds for Chromium to show its error page for a failed navigation
CRASH_NEWS = 0.3  # seconds by which the news of a crash may come after what it brought down
ABORTED = "net::ERR_ABORTED"
ERROR_PAGE_SHOWN = "the error page was shown"
ADVICE = {
    "net::ERR_NAME_NOT_RESOLVED": "Check the host name; the name server does not know it.",
    "net::ERR_CONNECTION_REFUSED": "Nothing listens there: start the server or check the port.",
    "net::ERR_CONNECTION_TIMED_OUT": "The host does not answer: check address and firewalls.",
    "net::ERR_INTERNET_DISCONNECTED": "This machine has no network.",
    "net::ERR_TOO_MANY_REDIRECTS": "The server redirects in a circle.",
    "net::ERR_EMPTY_RESPONSE": "The server closed the connection without an answer.",
    "net::ERR_UNSAFE_PORT": "Chromium refuses this port: serve on another one.",
}


class Navigated(msgspec.Struct, frozen=True):
    """Where a navigation ended."""

    url: str
    title: str
    status: int | None  # HTTP status of the main document; None: it came without one
    note: str = ""  # what is unusual: a download, an answer without content, a redirect loop
    remote_address: str = ""  # the address that served the document


class _Started(msgspec.Struct, frozen=True, rename="camel"):
    frame_id: str = ""
    loader_id: str = ""
    error_text: str = ""
    is_download: bool = False


async def navigate(page: Page, url: str, *, milestone: str = "load") -> Navigated:
    """Go to ``url`` and return once its document reached ``milestone``.

    Args:
        page: The tab.
        url: An absolute URL that the policy has allowed.
        milestone: "load" or "DOMContentLoaded".

    Raises:
        NavigationFailedError: No document arrived; ``net_error`` has Chromium's reason.

    On cancellation the load is stopped, so that the tab is usable at once.
    """
    page.acted = True
    done = False
    try:
        started = await _leave(page, url)
        answered = await _without_document(page, url, started)
        if answered is None:
            await arrive(page, started.loader_id, milestone)
            note = await follow_client_redirects(page, milestone)
            answered = await describe(page, note)
        done = True
        return answered
    finally:
        # A crashed tab is being loaded anew; an open dialog is answered, and then it goes on.
        if not done and not page.crashed and page.dialogs.held is None:
            page.session.post("Page.stopLoading")


async def _leave(page: Page, url: str) -> _Started:
    """Begin to navigate."""
    started = await _unbounded(page).call("Page.navigate", {"url": url}, _Started)
    if started.error_text == ABORTED and not page.network.status(started.loader_id):
        # If the page that is being left has crashed, its guard ends us here.
        with trio.move_on_after(CRASH_NEWS):
            await page.documents.wait_until(lambda: page.crashed)
    return started


def _unbounded(page: Page) -> Session:
    """A server may take its time to answer; only the caller's deadline bounds that."""
    return Session(page.connection, page.session.id, command_timeout=math.inf)


async def _without_document(page: Page, url: str, started: _Started) -> Navigated | None:
    """Deal with navigations that bring no new document; None if one is on its way."""
    if started.is_download:
        return await _stayed(page, "The server sent a download; the page stays as it was.")
    if started.error_text:
        request = page.network.document(started.loader_id)
        status = request.response.status if request and request.response else None
        if started.error_text == ABORTED and status in {204, 205}:
            return await _stayed(
                page,
                f"The server answered {status} without content; the page stays as it was.",
                status,
            )
        with trio.move_on_after(ERROR_PAGE):  # so that it does not come in the way of the next
            await page.documents.wait_until(
                lambda: page.documents.loader_id == started.loader_id
            )
        raise failure(page, request.url if request else url, started.error_text)
    if not started.loader_id:  # a move within the document: no load will follow
        await page.settle()
        return await describe(page, "")
    return None


async def arrive(page: Page, loader_id: str, milestone: str) -> None:
    """Wait until the document, or one that took its place, reached ``milestone``."""
    documents = page.documents
    commits = documents.commits

    def arrived() -> bool:
        return documents.reached(loader_id, milestone) or (
            documents.loader_id not in {loader_id, ""}
            and documents.commits > commits
            and documents.reached(documents.loader_id, milestone)
        )

    await documents.wait_until(arrived)


async def follow_client_redirects(page: Page, milestone: str) -> str:
    """Follow navigations that the page starts by itself right after loading."""
    documents = page.documents

    def at_rest() -> bool:
        moving = documents.starting or documents.scheduled
        return not moving and documents.reached(documents.loader_id, milestone)

    for _ in range(MAX_CLIENT_REDIRECTS):
        await page.settle()
        if at_rest():
            return ""
        commits = documents.commits
        await documents.wait_until(
            lambda before=commits: documents.commits > before or at_rest()  # type: ignore[misc]
        )
        await arrive(page, documents.loader_id, milestone)
    return "The page keeps navigating by itself; this is where it was when it was left alone."


async def describe(page: Page, note: str = "") -> Navigated:
    """Say where the tab is now.

    Raises:
        NavigationFailedError: It shows Chromium's error page.
    """
    documents = page.documents
    if documents.url.startswith("chrome-error:"):
        raise failure(page, documents.unreachable_url, ERROR_PAGE_SHOWN)
    place = await locate(page)
    request = page.network.document(documents.loader_id)
    address = request.response.remote_ip_address if request and request.response else ""
    return Navigated(
        place.url,
        place.title,
        page.network.status(documents.loader_id),
        note,
        address.strip("[]"),
    )


async def _stayed(page: Page, note: str, status: int | None = None) -> Navigated:
    place = await locate(page)
    return Navigated(place.url, place.title, status, note)


def failure(page: Page, url: str, net_error: str) -> NavigationFailedError | SsrfBlockedError:
    """Return the error for a document that did not arrive."""
    if page.way_out is not None:
        told = TELLTALES[0] if net_error == ERROR_PAGE_SHOWN else net_error
        if (refusal := page.way_out.refusal(url, told)) is not None:
            return refusal
        explained = page.way_out.explain(url, told)
        net_error = net_error if explained == told else explained
    hint = ADVICE.get(net_error, "Check the URL and that its server answers.")
    if "CERT" in net_error or "SSL" in net_error:
        hint = "The certificate or TLS set-up of the server is not acceptable to Chromium."
    return NavigationFailedError(
        f"Navigation to {url} failed: {net_error}", net_error=net_error, hint=hint
    )
