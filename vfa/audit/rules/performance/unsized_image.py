"""Pictures whose space is unknown until they have arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import file_name, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence

SMALLEST = 40.0  # CSS pixels of height; smaller pictures move little
SHIFTING = 0.1  # CLS from which it is felt. https://web.dev/articles/cls


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the visible images in the flow that reserve no height."""
    felt = (page.vitals.cls or 0.0) > SHIFTING
    for image in page.facts.images:
        small = image.height < SMALLEST
        broken = image.natural_width == 0
        if image.kind != "img" or image.sized or not image.in_flow or not image.visible:
            continue
        if small or broken or image.url.startswith("data:"):
            continue
        yield about(
            image,
            severity="medium" if felt else "low",
            title=f"Image {shown(image.name or file_name(image.url))} has no size of its own",
            description=(
                f"What follows it moves down by {image.height:.0f} px when it arrives: neither "
                "attributes nor styles say how high it will be."
            ),
            measured="auto",
            threshold="width and height, or aspect-ratio",
            requests=(image.url,),
            confidence=0.9,
        )


RULE = Rule(
    id="performance/unsized-image",
    title="Image without dimensions",
    source="Lighthouse, unsized-images; https://web.dev/articles/optimize-cls",
    impact="The page jumps when the picture arrives.",
    fix_hint="Give the img its width and height attributes; CSS may still scale it.",
    check=check,
)
