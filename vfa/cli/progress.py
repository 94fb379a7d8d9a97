"""How far audits are, on stderr: a bar on a terminal, a line an audit elsewhere.

Nothing is drawn on stdout, and nothing that came from a page reaches the terminal with its
control characters.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from vfa.audit.request import Progress

URL_WIDTH = 60  # characters of a URL beside the bar


class Display(Protocol):
    """Shows one audit after the other."""

    def audit(self, url: str) -> AbstractContextManager[Callable[[Progress], None]]:
        """Show the audit of ``url`` while the block runs; call what it gives to update."""
        ...


@contextmanager
def display(*, quiet: bool) -> Iterator[Display]:
    """Give the display that fits where stderr goes."""
    console = Console(stderr=True, highlight=False)
    if quiet:
        yield _Silent()
    elif not console.is_terminal:
        yield _Lines(console)
    else:
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[url]}", markup=False, style="dim"),
            TimeElapsedColumn(),
        )
        # stdout is not rich's to redirect: what a pipe reads must be what was printed.
        with Bars(*columns, console=console, redirect_stdout=False, transient=True) as bars:
            yield _Bar(bars)


def printable(text: str, width: int = 10_000) -> str:
    """Return ``text`` in one line of at most ``width`` characters, safe for a terminal."""
    clean = "".join(character if character.isprintable() else "?" for character in text)
    return clean if len(clean) <= width else clean[: width - 1] + "…"


class _Silent:
    @contextmanager
    def audit(self, url: str) -> Iterator[Callable[[Progress], None]]:
        del url
        yield lambda progress: None


class _Lines:
    """For logs of CI: one line when an audit starts, one when it ends."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @contextmanager
    def audit(self, url: str) -> Iterator[Callable[[Progress], None]]:
        pages = 0

        def update(progress: Progress) -> None:
            nonlocal pages
            pages = progress.pages_done

        started = time.monotonic()
        self._say(f"Auditing {printable(url)} …")
        yield update
        if pages:  # else it failed, and that is said where all of it stands together
            self._say(f"  {pages} page(s) in {time.monotonic() - started:.1f} s")

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, soft_wrap=True)


class _Bar:
    def __init__(self, bars: Bars) -> None:
        self._bars = bars

    @contextmanager
    def audit(self, url: str) -> Iterator[Callable[[Progress], None]]:
        task = self._bars.add_task("starting", total=None, url=printable(url, URL_WIDTH))

        def update(progress: Progress) -> None:
            self._bars.update(
                task,
                description=progress.phase,
                completed=progress.pages_done,
                total=max(progress.pages_known, 1),
                url=printable(progress.url or url, URL_WIDTH),
            )

        try:
            yield update
        finally:
            self._bars.remove_task(task)
