"""Asking for the status of a link without visiting it.

The request is Chromium's own (CDP ``Network.loadNetworkResource``): it has the cookies of the
run and takes the same way out as its pages. Only the head of the answer is used; the body is
let go of unread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.audit.evidence import LinkCheck
from vfa.errors import CdpError, CommandTimeoutError

if TYPE_CHECKING:
    from vfa.page.page import Page

BOUND = 10.0  # seconds for one link


class _Resource(msgspec.Struct, frozen=True, rename="camel"):
    success: bool = False
    net_error_name: str = ""
    http_status_code: float | None = None
    stream: str = ""


class _Loaded(msgspec.Struct, frozen=True):
    resource: _Resource


async def check_link(page: Page, url: str) -> LinkCheck:
    """Return the status that ``url`` answers with, after redirects."""
    with trio.move_on_after(BOUND):
        try:
            loaded = await page.session.call(
                "Network.loadNetworkResource",
                {
                    "frameId": page.documents.main_frame,
                    "url": url,
                    "options": {"disableCache": False, "includeCredentials": True},
                },
                _Loaded,
            )
        except (CdpError, CommandTimeoutError) as error:
            return LinkCheck(error=error.message)
        resource = loaded.resource
        if resource.stream:
            page.session.post("IO.close", {"handle": resource.stream})
        if resource.http_status_code:
            return LinkCheck(status=int(resource.http_status_code))
        return LinkCheck(error=resource.net_error_name or "no answer")
    return LinkCheck(error="timeout")
