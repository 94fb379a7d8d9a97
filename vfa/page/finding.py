"""Finding text in a page: which elements say it, in all frames and shadow trees.

The text of a block is searched as it is read, across bold words and links; so are names and
placeholders. A regular expression is JavaScript's, and runs in the page: some patterns take
for ever on some texts, so it runs under a time limit that V8 itself enforces, for which
``Runtime.evaluate`` is the only way. The page stands still meanwhile, for that long at most.

Source: CDP ``Runtime.evaluate``, ``timeout``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from vfa.errors import CdpError, InvalidArgsError, ScriptError
from vfa.page.stitching import Part, Reading, read_document, read_frames

if TYPE_CHECKING:
    from vfa.page.frames import Frame
    from vfa.page.page import Page

REGEX_MS = 1_000  # for one document; a page cannot be used meanwhile
TEXT_MS = 5_000  # the same for a text, which takes no longer than the page is long


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for: a text, or a JavaScript regular expression."""

    text: str = ""
    regex: str = ""
    exact: bool = False  # case matters
    limit: int = 20


class Match(msgspec.Struct, frozen=True):
    """One place where it is."""

    ref: str  # of the element that one would use there: a link, a button, a field, a block
    where: str  # text, name, placeholder or value
    match: str
    context: str
    element: str  # what a developer would call it
    frame: str  # the URL of the frame it is in; "" for the page itself


class Matches(msgspec.Struct, frozen=True):
    """All places, of which the first are listed."""

    count: int
    matches: tuple[Match, ...]


class _Aimed(Reading, frozen=True):
    job: int = 0


class _Hit(msgspec.Struct, frozen=True):
    number: int
    what: str
    match: str
    context: str
    element: str


class _Hits(Reading, frozen=True):
    count: int = 0
    matches: tuple[_Hit, ...] = ()
    frames: tuple[int, ...] = ()


class _Answer(msgspec.Struct, frozen=True):
    last: int
    value: _Hits


class _Evaluated(msgspec.Struct, frozen=True, rename="camel"):
    result: dict[str, Any] = {}
    exception_details: dict[str, Any] | None = None


async def find(page: Page, search: Search) -> Matches:
    """Return where a text, or what a pattern matches, is in a page.

    Raises:
        InvalidArgsError: The pattern is none, or takes too long on this page.
    """

    async def read(frame: Frame) -> _Hits:
        return await _search(page, frame, search)

    part = await read_frames(page, page.frames.main, read, lambda hits: hits.frames)
    found: list[Match] = []
    count = _collect(page, part, found)
    return Matches(count, tuple(found[: search.limit]))


async def _search(page: Page, frame: Frame, search: Search) -> _Hits:
    try:
        aimed = await read_document(
            page, frame, "aimSearch", msgspec.to_builtins(search), result=_Aimed
        )
    except ScriptError as error:
        if "SyntaxError" in error.message:
            raise InvalidArgsError(
                f"{search.regex[:200]!r} is not a regular expression (SyntaxError)",
                hint="It is read as JavaScript reads it, with the flags g, i and u.",
            ) from None
        raise
    # All that the search is about is in the page already; the number is one of ours.
    try:
        evaluated = await frame.session.call(
            "Runtime.evaluate",
            {
                "expression": f"vfa.runSearch({aimed.job:d})",
                "contextId": frame.world,
                "returnByValue": True,
                "timeout": REGEX_MS if search.regex else TEXT_MS,
            },
            _Evaluated,
        )
    except CdpError as error:
        if "terminated" in error.message:
            raise _too_slow(search) from None
        raise
    if evaluated.exception_details is not None:
        raise CdpError("Runtime.evaluate", 0, "the document went away while it was searched")
    answer = msgspec.convert(evaluated.result.get("value"), _Answer, strict=False)
    page.frames.refs.last = max(page.frames.refs.last, answer.last)
    return answer.value


def _too_slow(search: Search) -> InvalidArgsError:
    return InvalidArgsError(
        f"{(search.regex or search.text)[:200]!r} takes too long on this page",
        hint="Repetitions inside repetitions, as in (a+)+, take for ever: say it plainer.",
    )


def _collect(page: Page, part: Part[_Hits], found: list[Match]) -> int:
    prefix = page.frames.name(part.frame)
    url = "" if part.frame is page.frames.main else part.frame.url
    found += [
        Match(f"{prefix}e{hit.number}", hit.what, hit.match, hit.context, hit.element, url)
        for hit in part.value.matches
    ]
    return part.value.count + sum(_collect(page, inner, found) for inner in part.inner.values())
