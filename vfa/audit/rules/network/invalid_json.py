"""Answers that claim to be JSON and are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the answers whose body does not parse. See ``vfa.audit.json_body``."""
    statuses = {request.url: request.status for request in page.requests}
    for url, fault in page.json_faults.items():
        if (statuses.get(url) or 200) >= 400:
            continue  # network/http-error says more about it
        place = page.local(url)
        yield Draft(
            severity="high",
            title=f"{place} is not valid JSON",
            description=f"Its Content-Type says JSON, but {fault}.",
            measured=fault,
            threshold="RFC 8259",
            requests=(url,),
            cause=place,
        )


RULE = Rule(
    id="network/invalid-json",
    title="Invalid JSON",
    source="RFC 8259",
    impact="Scripts that read the answer throw, and what depends on it is missing.",
    fix_hint="Look into what the server wrote; often it is an error page or a cut-off answer.",
    check=check,
)
