"""Timing things side by side, and showing the figures.

Absolute times drift with whatever else a machine does. So contestants take turns, call by
call, and what counts is the difference and the ratio of their medians in one run.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

RESULTS = Path(__file__).parent / "results"


class Figure(msgspec.Struct, frozen=True):
    """What one contestant took for one thing, in milliseconds."""

    what: str
    who: str
    median: float
    p95: float
    least: float
    runs: int


async def take_turns(
    what: str, contestants: Mapping[str, Callable[[], Awaitable[None]]], *, rounds: int
) -> list[Figure]:
    """Run every contestant ``rounds`` times, in turn; the first round does not count."""
    times: dict[str, list[float]] = {who: [] for who in contestants}
    order = list(contestants)
    for turn in range(rounds + 1):
        for who in order if turn % 2 else reversed(order):
            began = time.perf_counter()
            await contestants[who]()
            if turn:
                times[who].append(1000 * (time.perf_counter() - began))
    return [_figure(what, who, taken) for who, taken in times.items()]


def _figure(what: str, who: str, taken: Sequence[float]) -> Figure:
    ordered = sorted(taken)
    return Figure(
        what=what,
        who=who,
        median=statistics.median(ordered),
        p95=ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))],
        least=ordered[0],
        runs=len(ordered),
    )


def show(title: str, figures: Sequence[Figure], *, floor: str) -> None:
    """Print each thing with its contestants, and how far they are from the floor."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{title} (median ms; load {os.getloadavg()[0]:.1f})")
    for column in ("what", "who", "median", "p95", "least", f"over {floor}", f"{floor} times"):
        table.add_column(column, justify="left" if column in {"what", "who"} else "right")
    for figure in figures:
        base = next(
            (each for each in figures if each.what == figure.what and each.who == floor), figure
        )
        table.add_row(
            figure.what,
            figure.who,
            f"{figure.median:.2f}",
            f"{figure.p95:.2f}",
            f"{figure.least:.2f}",
            "" if figure is base else f"{figure.median - base.median:+.2f}",
            "" if figure is base else f"{figure.median / base.median:.2f}",
        )
    Console().print(table)


def keep(name: str, value: Any) -> Path:
    """Write a result as JSON below ``bench/results``; return the file."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    machine = {"cores": os.cpu_count(), "load": os.getloadavg(), "at": time.time()}
    path.write_text(
        json.dumps({"machine": machine, "result": msgspec.to_builtins(value)}, indent=1)
    )
    return path
