"""What a page did and said, as plain data: the vocabulary of evidence.

No browser, no task: rules, reports and the error bus speak in these words, and tests make
them up. Times of a page are milliseconds since its navigation began, unless the name says
otherwise; wall-clock times are seconds since the epoch.
"""

from __future__ import annotations

import msgspec


class Request(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request of a page, as far as it got. CDP ``Network``."""

    url: str
    method: str = "GET"
    kind: str = "Other"  # CDP Network.ResourceType: Document, Script, Image, Fetch, XHR …
    status: int | None = None  # HTTP status; None if no answer came
    status_text: str = ""
    mime_type: str = ""
    failure: str = ""  # net::ERR_… , "blocked: csp", "cors: …"; empty if it did not fail
    cancelled: bool = False  # the page itself gave it up
    start_ms: float = 0.0
    first_byte_ms: float | None = None
    end_ms: float | None = None  # None: still running when this was written down
    transfer_bytes: int = 0  # on the wire, headers included
    body_bytes: int = 0  # after decompression
    encoding: str = ""  # Content-Encoding
    cache_control: str = ""
    from_cache: bool = False
    protocol: str = ""  # "http/1.1", "h2" …
    remote_address: str = ""  # the address that answered, without a port
    redirects: tuple[str, ...] = ()  # earlier URLs of the chain, first one first
    render_blocking: bool = False
    main_frame: bool = True  # asked for by the top document rather than a frame
    document: bool = False  # is the main document itself


class ConsoleMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of ``console.*``. CDP ``Runtime.consoleAPICalled``."""

    level: str  # log, info, warning, error, debug
    text: str
    timestamp: float  # seconds since the epoch
    url: str | None = None
    line: int | None = None  # 1-based
    stack: str = ""


class PageException(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An uncaught exception or unhandled rejection. CDP ``Runtime.exceptionThrown``."""

    message: str  # "TypeError: x is undefined"
    timestamp: float  # seconds since the epoch
    stack: str = ""  # "at f (file.js:1:2)" lines, at most 50
    url: str = ""  # of the script, or of the page
    line: int | None = None  # 1-based
    unhandled_rejection: bool = False


class Dialog(msgspec.Struct, frozen=True, kw_only=True):
    """A dialog that the page opened and that was answered for the user."""

    kind: str  # alert, confirm, prompt, beforeunload
    message: str
    accepted: bool


class LayoutShift(msgspec.Struct, frozen=True, omit_defaults=True):
    """One unexpected layout shift. Source: https://web.dev/articles/cls."""

    value: float
    time_ms: float
    selectors: tuple[str, ...] = ()  # what moved


class Vitals(msgspec.Struct, frozen=True, omit_defaults=True):
    """Web Vitals and their neighbours of one page load; None: not seen."""

    ttfb_ms: float | None = None
    fcp_ms: float | None = None
    lcp_ms: float | None = None
    lcp_selector: str = ""
    lcp_url: str = ""
    cls: float | None = None
    shifts: tuple[LayoutShift, ...] = ()
    dom_content_loaded_ms: float | None = None
    load_ms: float | None = None
    long_task_ms: float = 0.0  # sum of what exceeds 50 ms, a stand-in for TBT
    long_tasks: int = 0
