"""Links that lead nowhere: placeholders for an address, and fragments without a target."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import Link, PageEvidence, ProbeResult

# javascript: with nothing to run. Anything else in such a URL is a handler.
NOTHING = re.compile(
    r"^javascript:\s*(void\s*\(?\s*0?\s*\)?|undefined|false|null)?\s*;*$", re.IGNORECASE
)
# Moving to the top is what "#" does, so a link that says so works.
UP = re.compile(
    r"\b(top|arriba|subir)\b|^(back )?up$|\b(to|al) (the )?(start|beginning|inicio)\b|[↑⇧▲]",
    re.IGNORECASE,
)
WITHOUT_USE = frozenset({"fragment", "scroll", "focus"})  # what any such link does


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield visible links that lead nowhere and, as far as was seen, do nothing else."""
    probes = page.probes()
    for link in page.facts.links:
        reason = _reason(link)
        probe = probes.get(link.selector)
        if not reason or not link.visible or _alive(link, probe):
            continue
        yield _draft(link, reason, probed=probe is not None)


def _reason(link: Link) -> str:
    href = link.href.strip()
    if href == "#" and not UP.search(link.name):
        return "its address is “#”, a placeholder"
    if NOTHING.match(href):
        return f"its address is {shown(href)}, which runs nothing"
    if link.fragment_found is False:
        return f"there is no element {shown(href.rpartition('#')[2])} in this page"
    if href and not link.url:
        return f"its address {shown(href)} is not a valid URL"
    return ""


def _alive(link: Link, probe: ProbeResult | None) -> bool:
    if probe is None:
        return link.scripted
    return bool(probe.skipped_reason) or not WITHOUT_USE.issuperset(probe.effects)


def _draft(link: Link, reason: str, *, probed: bool) -> Draft:
    # Without a probe a script may still be listening, unless the target is plainly missing.
    missing = link.fragment_found is False or not link.url
    return about(
        link,
        severity="medium" if probed or missing else "low",
        title=f"Link {shown(link.name or link.text or link.href)} leads nowhere",
        description=f"Following the link changes nothing: {reason}.",
        measured=link.href,
        threshold="an address, or a fragment that is in the page",
        confidence=0.95 if probed else 0.85 if missing else 0.6,
        cause=link.href if link.fragment_found is False else "",
    )


RULE = Rule(
    id="functional/dead-href",
    title="Link that leads nowhere",
    source="HTML, 4.6.4 Following hyperlinks, and 7.4.2.3.3 Fragments",
    impact="Visitors who follow the link stay where they are.",
    fix_hint=(
        "Give the link its address, add the missing id to its target, or make it a button "
        "with a handler if it is meant to act on this page."
    ),
    check=check,
)
