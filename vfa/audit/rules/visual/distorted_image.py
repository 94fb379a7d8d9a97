"""Pictures shown with other proportions than their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import file_name, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import Image, PageEvidence

TOLERANCE = 0.05  # of the proportions; below it nobody sees the difference
SLACK = 4.0  # CSS pixels of height; Lighthouse's image-aspect-ratio allows 2
STRIKING = 0.25
SMALLEST = 16.0  # CSS pixels; spacers and lines are stretched on purpose


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the images that are stretched or squeezed."""
    for image in page.facts.images:
        if not _comparable(image):
            continue
        own = image.natural_width / image.natural_height
        given = image.width / image.height
        off = max(own / given, given / own) - 1
        if off > TOLERANCE and abs(image.width / own - image.height) > SLACK:
            yield about(
                image,
                severity="medium" if off > STRIKING else "low",
                title=f"Image {shown(image.name or file_name(image.url))} is distorted",
                description=(
                    f"It is shown at {image.width:.0f} by {image.height:.0f} px, its own "
                    f"proportions are {image.natural_width:.0f} by {image.natural_height:.0f}: "
                    f"{off:.0%} off."
                ),
                measured=round(given, 3),
                threshold=round(own, 3),
                requests=(image.url,) if not image.url.startswith("data:") else (),
            )


def _comparable(image: Image) -> bool:
    sizes = (image.width, image.height, image.natural_width, image.natural_height)
    return image.visible and image.fit == "fill" and min(sizes) >= SMALLEST


RULE = Rule(
    id="visual/distorted-image",
    title="Distorted image",
    source="Lighthouse, image-aspect-ratio",
    impact="Faces and products look wrong, and the page looks careless.",
    fix_hint="Set only one of width and height, or use object-fit: cover or contain.",
    check=check,
)
