"""Reading every frame of a page with one in-page function, and putting the parts together.

A function that reads a document says where frames are in it, by the numbers of their
elements. The documents of these frames are read likewise, side by side, and so on down. A
frame that nobody can see is in nobody's answer, and is not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
import trio

from vfa.errors import VfaError
from vfa.page.locating import owner_of, pierce, stale

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from vfa.page.frames import Frame
    from vfa.page.page import Page

T = TypeVar("T")
V = TypeVar("V", bound="Reading")

DEEPEST = 8  # frames inside one another
PIERCES = 12  # rounds of looking for closed shadow roots; there may be more in those found


class Reading(msgspec.Struct, frozen=True):
    """Base of what a function of the kit returns that reads a document."""

    suspects: bool = False  # closed shadow roots must be looked into before it can be read
    gone: bool = False  # the element to begin at is no more


class Part(Generic[V]):
    """What was read of one document, and of the frames in it."""

    def __init__(self, frame: Frame, value: V) -> None:
        self.frame = frame
        self.value = value
        self.inner: dict[int, Part[V]] = {}  # by the number of the frame's element


async def read_document(
    page: Page, frame: Frame, function: str, *arguments: Any, result: type[V]
) -> V:
    """Call a function of the kit that reads a document, once its closed roots are known.

    Its last argument says whether it is to look for closed roots that nobody knows of.

    Raises:
        ElementStaleError: The element to begin at is gone.
    """
    for left in reversed(range(PIERCES)):
        value = await page.kit(function, *arguments, left > 0, result=result, frame=frame)
        if not value.suspects:
            break
        await pierce(page, frame)
    if value.gone:
        raise stale("the element")
    return value


async def read_frames(
    page: Page,
    frame: Frame,
    read: Callable[[Frame], Awaitable[V]],
    holes: Callable[[V], Collection[int]],
    depth: int = DEEPEST,
) -> Part[V]:
    """Read a frame, and the frames in it that its own reading has places for.

    Args:
        page: The tab.
        frame: Where to begin.
        read: Reads one frame's document.
        holes: The numbers of the frames' elements in a reading.
        depth: How many levels of frames are read, at most.

    Raises:
        VfaError: The first frame cannot be read; others are left out instead.
    """
    children = [each for each in page.frames if each.parent is frame] if depth > 0 else []
    value, *owners = await side_by_side(
        [lambda: read(frame), *(_owner_number(page, child) for child in children)]
    )
    if isinstance(value, VfaError):
        raise value
    part = Part(frame, value)
    wanted = set(holes(value))
    seen = [
        (number, child)
        for number, child in zip(owners, children, strict=True)
        if not isinstance(number, VfaError) and number in wanted
    ]
    parts = await side_by_side([_part(page, child, read, holes, depth) for _, child in seen])
    for (number, _), inner in zip(seen, parts, strict=True):
        if not isinstance(inner, VfaError):
            part.inner[number] = inner
    return part


async def side_by_side(calls: Sequence[Callable[[], Awaitable[Any]]]) -> list[Any]:
    """Make all calls at once; return what each returned, or the ``VfaError`` it raised."""
    if len(calls) == 1:
        return [await _outcome(calls[0])]
    results: list[Any] = [None] * len(calls)

    async def note(index: int, call: Callable[[], Awaitable[Any]]) -> None:
        results[index] = await _outcome(call)

    async with trio.open_nursery() as nursery:
        for index, call in enumerate(calls):
            nursery.start_soon(note, index, call)
    return results


async def _outcome(call: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await call()
    except VfaError as error:
        return error


def _owner_number(page: Page, child: Frame) -> Callable[[], Awaitable[int]]:
    async def number() -> int:
        return (await owner_of(page, child)).number

    return number


def _part(
    page: Page,
    child: Frame,
    read: Callable[[Frame], Awaitable[V]],
    holes: Callable[[V], Collection[int]],
    depth: int,
) -> Callable[[], Awaitable[Part[V]]]:
    async def part() -> Part[V]:
        return await read_frames(page, child, read, holes, depth - 1)

    return part
