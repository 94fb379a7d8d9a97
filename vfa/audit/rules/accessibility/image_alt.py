"""Pictures without a text alternative."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import file_name, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import Image, PageEvidence

FILE_NAME = re.compile(r"^[\w\-. ()%]+\.(jpe?g|png|gif|webp|avif|svg|bmp)$", re.IGNORECASE)
SMALLEST = 3.0  # CSS pixels; smaller pictures are counters, not content
DEFAULT_NAMES = frozenset({"", "Submit", "Submit Query"})  # of an input without alt


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the pictures whose alternative is missing, or is a file name."""
    for image in page.facts.images:
        if not image.exposed or not image.visible or image.decorative:
            continue
        if max(image.box.width, image.box.height) < SMALLEST:
            continue
        if _unnamed(image):
            yield _missing(image)
        elif FILE_NAME.match(image.name.strip()):
            yield _file_name(image)


def _unnamed(image: Image) -> bool:
    if image.kind == "input":
        return image.alt is None and image.name in DEFAULT_NAMES
    return image.name == ""


def _missing(image: Image) -> Draft:
    what = "An image button" if image.kind == "input" else "An image"
    named = image.url and not image.url.startswith("data:")
    label = f" ({file_name(image.url)})" if named else ""
    return about(
        image,
        severity="medium",
        title=f"{what} has no text alternative{label}",
        description="It has neither an alt attribute nor an aria-label or title.",
        measured=image.alt,
        threshold='a description, or alt="" for decoration',
    )


def _file_name(image: Image) -> Draft:
    return about(
        image,
        severity="low",
        title=f"The text alternative of an image is the file name {shown(image.name)}",
        description="A screen reader reads out the file name, which says little.",
        measured=image.name,
        threshold="a description",
        confidence=0.9,
        cause="file name",
    )


RULE = Rule(
    id="accessibility/image-alt",
    title="Image without a text alternative",
    source="WCAG 2.2, 1.1.1; ACT rule 23a2a8",
    wcag="1.1.1 Non-text Content",
    impact="People who cannot see the picture do not learn what it shows.",
    fix_hint='Describe the picture in alt; give decoration an empty one (alt="").',
    check=check,
)
