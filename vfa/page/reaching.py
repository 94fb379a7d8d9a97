"""Having the page wait for an element and take it up, in as few round trips as can be.

The first look is at the main frame, and in one go: most elements are there, and well. Only
what is not is searched for in the other frames. The waiting is done in the page, until a
little before the caller's deadline, so that there is time to say what was in the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from vfa.errors import CdpError, ElementHiddenError, ScriptError
from vfa.page.js import source
from vfa.page.locating import (
    Element,
    Target,
    bad_selector,
    locate,
    reveal_frames,
    stale,
    steps_of,
    time_left,
)

if TYPE_CHECKING:
    from vfa.page.frames import Frame
    from vfa.page.page import Page

LONGEST_WAIT = 20_000.0  # ms of one wait in a page; a command may not be silent for longer


class Seen(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What every function of the kit answers that takes up an element."""

    missing: bool = False  # nothing matches, or the element went
    number: int = 0
    matches: int = 1
    trouble: str = ""  # what it still was in the end: hidden, disabled, covered, …
    why: str = ""  # the same, for people
    final: bool = False  # waiting longer makes no sense

    @property
    def is_over(self) -> bool:
        """Whether nothing is to be waited for."""
        return self.missing or self.final or not self.trouble


S = TypeVar("S", bound=Seen)


async def reach(
    page: Page, target: Target, function: str, *arguments: Any, result: type[S]
) -> tuple[Element, S]:
    """Call ``function`` of the kit on the element that ``target`` names.

    It is given what is wanted, ``arguments``, and how many milliseconds it may wait.

    Raises:
        ElementNotFoundError: Nothing matches.
        ElementStaleError: The ref's element is gone.
        ElementHiddenError: It stayed invisible.
        InvalidArgsError: The selector is not a CSS selector.
    """
    element = await locate(page, target) if target.ref else None
    while True:
        if element is None:
            frame = page.frames.main
            what: dict[str, Any] = {"steps": steps_of(target.selector)}
        else:
            frame = element.frame
            what = {"number": element.number, "matches": element.matches}
            await reveal_frames(page, frame)
        seen = await _ask(page, target, frame, (function, what, *arguments), result)
        if seen.trouble == "hidden":
            raise hidden(target, seen.why)
        if not seen.missing:
            return Element(frame, seen.number, seen.matches), seen
        if target.ref:
            raise stale(target.ref)
        element = await locate(page, target)


async def _ask(
    page: Page, target: Target, frame: Frame, call: tuple[Any, ...], result: type[S]
) -> S:
    """Let the page look until all is well, or the caller's time is up."""
    while True:
        budget = min(time_left(), LONGEST_WAIT)
        try:
            seen = await page.kit(*call, budget, result=result, frame=frame)
        except ScriptError as error:
            raise bad_selector(target.selector, error) from None
        except CdpError:
            if frame is page.frames.main and time_left() <= 0:
                raise
            return result(missing=True)  # its document left
        if seen.is_over or time_left() <= 0:
            return seen


def tell(page: Page, frame: Frame, function: str, *arguments: Any) -> None:
    """Call a function of the kit and do not wait for it."""
    if frame.world is not None and not page.crashed:
        values = [{"value": value} for value in (function, *arguments)]
        frame.session.post(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": source("invoke"),
                "executionContextId": frame.world,
                "arguments": values,
            },
        )


def hidden(target: Target, why: str) -> ElementHiddenError:
    """Return the error for an element that cannot be seen."""
    return ElementHiddenError(
        f"Element is not visible: {target}: {why}",
        hint="Make it appear first: open what it is in, or scroll; or wait longer.",
    )
