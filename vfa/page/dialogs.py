"""Dialogs of a page: answered at once, or held until somebody answers.

An open dialog stops every script of its tab, so it decides what a call may wait for. State
fed by CDP events; owns no connection: ``Page`` sends what is decided here.

Source: CDP ``Page.javascriptDialogOpening``, ``Page.javascriptDialogClosed``. Dialogs of
frames in other processes come on the page's own session as well.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import trio

from vfa.errors import DialogError, DialogOpenedError
from vfa.page.records import Dialog

if TYPE_CHECKING:
    from collections.abc import Iterator

Mode = Literal["dismiss", "accept", "ask"]

MAX_DIALOGS = 50  # remembered until someone asks; a page can open them in a loop
MAX_MESSAGE = 1000  # characters of a dialog's text that are kept
# Seconds that a call has to end by itself once a dialog holds up its page: enough for what
# needs no answer of the page, and for a call that had only its settling left.
GRACE = 0.1


class Opening(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Page.javascriptDialogOpening``, in part."""

    type: str  # alert, confirm, prompt, beforeunload
    message: str = ""
    default_prompt: str = ""


class Decision(msgspec.Struct, frozen=True):
    """How a dialog is answered."""

    accept: bool
    text: str | None = None  # for a prompt; None: what the page proposes


class Dialogs:
    """The dialogs of one page.

    Args:
        mode: What happens to a dialog for which nothing else was decided.
    """

    def __init__(self, mode: Mode = "dismiss") -> None:
        self.held: Opening | None = None  # the one that waits for an answer
        self.next: Decision | None = None  # how the next one is answered, whatever the mode
        self._mode = mode
        self._ended: list[Dialog] = []
        self._calls: set[trio.CancelScope] = set()  # what an open dialog would hold up
        self._settling: set[trio.CancelScope] = set()

    def open(self, opening: Opening) -> Decision | None:
        """Take a dialog that opened; return how to answer it now, or None if it is held."""
        opening = msgspec.structs.replace(opening, message=opening.message[:MAX_MESSAGE])
        decision = self._decide(opening)
        if decision is not None:
            self._note(opening, accepted=decision.accept)
            return decision
        self.held = opening
        for scope in self._settling:
            scope.cancel(reason="a dialog is open")
        for scope in self._calls:
            scope.deadline = trio.current_time() + GRACE
        return None

    def _decide(self, opening: Opening) -> Decision | None:
        """Dismissing ``beforeunload`` means to stay, which would trap the tab on the page."""
        if opening.type == "beforeunload":
            return None if self._mode == "ask" else Decision(accept=True)
        decision, self.next = self.next, None
        if decision is None and self._mode != "ask":
            decision = Decision(accept=self._mode == "accept")
        if decision is not None and decision.accept and decision.text is None:
            return Decision(accept=True, text=opening.default_prompt)
        return decision

    def answer(self, decision: Decision) -> tuple[Opening, Decision]:
        """Take the answer to the held dialog; return both, ready to be sent.

        Raises:
            DialogError: None is held.
        """
        opening = self.held
        if opening is None:
            raise none_open()
        if decision.accept and decision.text is None:
            decision = Decision(accept=True, text=opening.default_prompt)
        self.closed(accepted=decision.accept)
        return opening, decision

    def closed(self, *, accepted: bool) -> None:
        """Take note that the held dialog is gone, by our answer or by somebody else's."""
        if self.held is not None:
            self._note(self.held, accepted=accepted)
            self.forget()

    def forget(self) -> None:
        """Let go of a held dialog that went with its document."""
        self.held = None
        for scope in self._calls:
            scope.deadline = math.inf

    def take(self) -> tuple[Dialog, ...]:
        """Return the dialogs that were answered since the last call, and forget them."""
        taken = tuple(self._ended)
        self._ended.clear()
        return taken

    def _note(self, opening: Opening, *, accepted: bool) -> None:
        if len(self._ended) < MAX_DIALOGS:
            self._ended.append(
                Dialog(kind=opening.type, message=opening.message, accepted=accepted)
            )

    # --- calls that a dialog would hold up ------------------------------------------------

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """End the block soon after a dialog is held: it would wait for the page for ever.

        Raises:
            DialogOpenedError: The block was ended.
        """
        with trio.CancelScope() as scope:
            self._calls.add(scope)
            if self.held is not None:
                scope.deadline = trio.current_time() + GRACE
            try:
                yield
            finally:
                self._calls.discard(scope)
        if scope.cancelled_caught:
            raise opened(self.held or Opening("dialog"))

    @contextmanager
    def ending(self, scope: trio.CancelScope) -> Iterator[None]:
        """Cancel ``scope`` the moment a dialog is held, or at once if one is."""
        self._settling.add(scope)
        if self.held is not None:
            scope.cancel(reason="a dialog is open")
        try:
            yield
        finally:
            self._settling.discard(scope)


def handling(decision: Decision) -> dict[str, Any]:
    """Return the parameters of CDP ``Page.handleJavaScriptDialog``."""
    if decision.text is None:
        return {"accept": decision.accept}
    return {"accept": decision.accept, "promptText": decision.text}


def none_open() -> DialogError:
    """Return the error for an answer to a dialog that is not there."""
    return DialogError(
        "no dialog is open",
        hint="With next: true the answer is kept for the next dialog of the tab.",
    )


def in_the_way(opening: Opening) -> DialogError:
    """Return the error for a call that an open dialog holds up."""
    return DialogError(
        f"a {opening.type} dialog is open and holds up the page: {opening.message!r}",
        hint="Answer it with browser_handle_dialog, then call again.",
    )


def opened(opening: Opening) -> DialogOpenedError:
    """Return the news of a dialog that opened in the middle of a call."""
    error = in_the_way(opening)
    return DialogOpenedError(
        error.message,
        kind=opening.type,
        text=opening.message,
        default_text=opening.default_prompt,
        hint=error.hint,
    )
