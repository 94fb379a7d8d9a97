"""Where a crawl goes next: breadth first, one origin, no page twice.

Pure. A level of the crawl is the pages that lie the same number of clicks from the entry
page. When a level has been visited, the next one is chosen from all links found on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from vfa.audit.links import choose, fold, sort_links

if TYPE_CHECKING:
    from vfa.audit.evidence import PageEvidence


class Goal(msgspec.Struct, frozen=True):
    """A page to visit, and how many clicks from the entry page it lies."""

    url: str
    depth: int


class Frontier:
    """The pages of one crawl.

    Args:
        entry: Where it begins.
        max_depth: Clicks that it may go from there; 0 visits the entry page only.
        max_pages: Pages that it visits at most.
    """

    def __init__(self, entry: str, *, max_depth: int, max_pages: int) -> None:
        self._max_depth = max_depth
        self._room = max_pages
        self._level = [entry]
        self._depth = 0
        self._next_level: dict[str, None] = {}
        self._found: dict[str, None] = {}  # every link that may be asked for, in order
        self._known = {fold(entry)}  # visited or about to be
        self.left_out = 0  # pages that were not visited because of ``max_pages``

    def next(self) -> Goal | None:
        """Return the next page, or None when the crawl is done."""
        while not self._level:
            if self._depth >= self._max_depth or not self._next_level:
                return None
            self._descend()
        self._room -= 1
        return Goal(self._level.pop(0), self._depth)

    def arrived(self, evidence: PageEvidence) -> bool:
        """Take note of a page that was loaded; return whether it is new.

        Two links may lead to one page by redirection.
        """
        address = fold(evidence.address)
        new = address in {fold(evidence.url), ""} or address not in self._known
        self._known.add(address)
        links = sort_links(evidence.address, evidence.facts.links)
        self._found |= dict.fromkeys((*links.follow, *links.check))
        if self._depth < self._max_depth:
            self._next_level |= dict.fromkeys(links.follow)
        return new

    @property
    def waiting(self) -> int:
        """Pages chosen and not visited yet."""
        return len(self._level)

    @property
    def not_visited(self) -> tuple[str, ...]:
        """Links that were found and are not pages of this crawl, in order of discovery."""
        return tuple(url for url in self._found if url not in self._known)

    def _descend(self) -> None:
        new = [url for url in self._next_level if url not in self._known]
        chosen, rest = choose(new, self._room)
        self._level = list(chosen)
        self._known |= set(chosen)
        self.left_out += len(rest)
        self._next_level = {}
        self._depth += 1
        if not self._level:
            self._depth = self._max_depth
