"""Web Vitals with their ratings.

Source of the thresholds: https://web.dev/articles/vitals (LCP, CLS, FCP, TTFB), and
Lighthouse's total-blocking-time for the time that long tasks block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from vfa.report.wording import DASH, duration

if TYPE_CHECKING:
    from vfa.page.records import Vitals

Rating = Literal["good", "needs improvement", "poor", "not seen"]


class Measure(NamedTuple):
    """One vital of one page, in words."""

    short: str
    name: str
    text: str
    rating: Rating
    good: str  # the limit of "good", in words


def rate(value: float | None, good: float, poor: float) -> Rating:
    """Return what ``value`` is worth: up to ``good`` is good, above ``poor`` is poor."""
    if value is None:
        return "not seen"
    if value <= good:
        return "good"
    return "poor" if value > poor else "needs improvement"


def measures(vitals: Vitals) -> tuple[Measure, ...]:
    """Return the vitals of a page in the order in which a reader asks for them."""
    shift = DASH if vitals.cls is None else f"{vitals.cls:.3f}"
    timed = (
        _timed("LCP", "Largest Contentful Paint", vitals.lcp_ms, 2500, 4000),
        Measure("CLS", "Cumulative Layout Shift", shift, rate(vitals.cls, 0.1, 0.25), "0.1"),
        _timed("FCP", "First Contentful Paint", vitals.fcp_ms, 1800, 3000),
        _timed("TTFB", "Time to First Byte", vitals.ttfb_ms, 800, 1800),
    )
    seen = any(measure.rating != "not seen" for measure in timed)
    blocked = vitals.long_task_ms if seen else None
    return (*timed, _timed("Blocked", "Time blocked by long tasks", blocked, 200, 600))


def _timed(short: str, name: str, value: float | None, good: float, poor: float) -> Measure:
    return Measure(short, name, duration(value), rate(value, good, poor), duration(good))
