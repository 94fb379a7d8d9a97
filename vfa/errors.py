"""Every failure a caller is expected to handle, in one tree, with a stable code.

A bug is not in this tree: it stays a ``KeyError``, a ``TypeError`` or an ``AssertionError``
and crashes the actor that has it.

``code`` is part of the contract with clients and never changes its meaning. ``message`` says
what was tried and what happened; ``hint`` says what to do next, in this place with these
values.
"""

from __future__ import annotations

from typing import ClassVar


class VfaError(Exception):
    """An expected failure: an answer to a request, not a crash."""

    code: ClassVar[str] = "INTERNAL_ERROR"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


# --- the engine -------------------------------------------------------------------------


class ActorGoneError(VfaError):
    """The addressed actor stopped before it answered."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the {name} stopped before it answered",
            hint="Try again: what crashed is restarted by its supervisor.",
        )
        self.name = name


class DeadlineExceededError(VfaError):
    """The time its caller allowed for a request ran out."""

    code = "TIMEOUT"


class QueueFullError(VfaError):
    """Too many operations wait already; nothing was done."""

    code = "BUSY_QUEUE_FULL"


class RestartsExhaustedError(VfaError):
    """A child crashed more often than its supervisor allows; the cause is its last crash."""


class InvalidArgsError(VfaError):
    """The arguments of a call contradict each other or are incomplete."""

    code = "INVALID_ARGS"


class ConfigError(VfaError):
    """A setting has a value that cannot be used."""

    code = "INVALID_CONFIG"


class LicenseError(VfaError):
    """The licence gate refused the call."""

    code = "LICENSE_INVALID"


# --- policy -----------------------------------------------------------------------------


class InvalidUrlError(VfaError):
    """The URL cannot be parsed, or its scheme is not allowed."""

    code = "INVALID_URL"


class SsrfBlockedError(VfaError):
    """The URL names, or resolves to, an address that the policy refuses."""

    code = "SSRF_BLOCKED"


class UnsafePathError(VfaError):
    """A file name would leave the output directory."""

    code = "UNSAFE_PATH"


class OutputError(VfaError):
    """The file system refused a file below the output directory."""

    code = "OUTPUT_FAILED"


# --- the browser ------------------------------------------------------------------------


class BrowserError(VfaError):
    """Chromium could not be found, started or kept running."""

    code = "BROWSER_NOT_READY"


class BrowserNotFoundError(BrowserError):
    """No usable Chromium: ``tried`` names the places looked at, in order."""

    code = "BROWSER_UNAVAILABLE"

    def __init__(self, message: str, tried: tuple[str, ...], *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.tried = tried


class BrowserStartError(BrowserError):
    """Chromium was started and did not become usable; ``last_lines`` is its own account."""

    code = "BROWSER_UNAVAILABLE"

    def __init__(
        self, message: str, last_lines: tuple[str, ...] = (), *, hint: str = ""
    ) -> None:
        account = "\nChromium's last lines:\n" + "\n".join(last_lines) if last_lines else ""
        super().__init__(message + account, hint=hint)
        self.last_lines = last_lines


class BrowserRestartError(BrowserStartError):
    """Chromium crashed, and could not be brought back within its restart budget."""

    code = "CHROMIUM_RESTART_FAILED"


class ConnectionLostError(VfaError):
    """The browser's end of a connection is gone."""

    code = "CDP_ERROR"


class SessionGoneError(ConnectionLostError):
    """A tab, frame or worker was closed, or its browser let go of it, before it answered."""


class CommandTimeoutError(VfaError):
    """One command stayed unanswered for longer than any healthy page needs."""

    code = "TIMEOUT"


class CdpError(VfaError):
    """The browser answered a command with an error object (JSON-RPC ``error``)."""

    code = "CDP_ERROR"

    def __init__(self, method: str, number: int, message: str) -> None:
        super().__init__(f"CDP Error: {message} ({method}, {number})")
        self.method = method
        self.number = number


# --- pages ------------------------------------------------------------------------------


class PageError(VfaError):
    """Something about one page."""

    code = "PAGE_ERROR"


class PageCrashedError(PageError):
    """The renderer of a page died or had to be ended; the page was loaded anew."""

    code = "PAGE_CRASHED"


class NavigationFailedError(PageError):
    """The document did not arrive; ``net_error`` is Chromium's name for the reason, if any."""

    code = "NAVIGATION_FAILED"

    def __init__(self, message: str, *, net_error: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.net_error = net_error


class ElementNotFoundError(PageError):
    """Nothing matched within the time given."""

    code = "ELEMENT_NOT_FOUND"


class ElementHiddenError(PageError):
    """The element is there, but nothing of it is to be seen."""

    code = "ELEMENT_HIDDEN"


class ElementNotClickableError(PageError):
    """The element cannot receive the pointer: it is covered, moving or disabled."""

    code = "ELEMENT_NOT_CLICKABLE"


class ElementNotTypeableError(PageError):
    """The element takes no text, or not this one."""

    code = "ELEMENT_NOT_TYPEABLE"


class ElementStaleError(PageError):
    """The ref belongs to an element, or a document, that is gone."""

    code = "ELEMENT_STALE"


class KeyNotSupportedError(PageError):
    """No key has that name."""

    code = "KEY_NOT_SUPPORTED"


class ViewportError(PageError):
    """Chromium refused the viewport."""

    code = "VIEWPORT_APPLY_FAILED"


class TabGoneError(PageError):
    """There is no tab of that number, or there is none any more."""

    code = "TAB_GONE"


class DialogError(PageError):
    """A dialog is in the way of the call, or the one to be answered is not there."""

    code = "DIALOG"


class DialogOpenedError(DialogError):
    """A dialog opened in the middle of the call and holds it up; what was done stays done."""

    def __init__(
        self, message: str, *, kind: str, text: str, default_text: str = "", hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        self.text = text
        self.default_text = default_text


class EvalDisabledError(PageError):
    """The switch for running JavaScript is off."""

    code = "EVAL_DISABLED"


class ShimDisabledError(PageError):
    """The switch for the WebGL shim is off."""

    code = "WEBGL_SHIM_DISABLED"


class ShimModeError(InvalidArgsError):
    """The WebGL shim has no such mode."""

    code = "WEBGL_SHIM_MODE_INVALID"


class TraceUnavailableError(PageError):
    """The document has no WebGL shim to report."""

    code = "WEBGL_TRACE_UNAVAILABLE"


class ScriptError(PageError):
    """JavaScript in a page threw, ours or a caller's; the message is the page's account."""

    code = "EVAL_ERROR"


class RequestNotFoundError(PageError):
    """The network log of the tab has no request of that number, or no longer."""

    code = "REQUEST_NOT_FOUND"


class StateError(PageError):
    """A file of saved cookies and storage cannot be used."""

    code = "STATE_INVALID"


class StorageError(PageError):
    """The browser refused a cookie, or an origin's storage cannot be reached."""

    code = "STORAGE_FAILED"


class PrintError(PageError):
    """The browser could not make a PDF of the page."""

    code = "PDF_FAILED"


# --- pictures ---------------------------------------------------------------------------


class PictureError(VfaError):
    """The bytes are not a picture that can be read, or the work on it failed."""

    code = "PICTURE_ERROR"


class ScreenshotTooLargeError(PictureError):
    """The picture exceeds its pixel or byte budget and could not be made smaller."""

    code = "SCREENSHOT_TOO_LARGE"
