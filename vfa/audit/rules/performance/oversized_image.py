"""Pictures with many more pixels than are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import file_name, kilobytes, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import Image, PageEvidence

# Sites rightly serve pictures for dense screens to all; only more than that is waste.
DENSITY = 2.0
WASTE = 100_000  # bytes; half a second of a slow phone connection (1.6 Mbit/s)
GREAT_WASTE = 1_000_000


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the visible images most of whose bytes are scaled away."""
    sizes = _sizes(page)
    for image in page.facts.images:
        wasted = _wasted(image, sizes.get(image.url, 0), page.facts.document.pixel_ratio)
        if image.visible and wasted >= WASTE:
            yield about(
                image,
                severity="medium" if wasted >= GREAT_WASTE else "low",
                title=f"Image {shown(image.name or file_name(image.url))} is far too large",
                description=(
                    f"{image.natural_width:.0f} by {image.natural_height:.0f} pixels "
                    f"({kilobytes(sizes[image.url])}) are shown at {image.width:.0f} by "
                    f"{image.height:.0f}; about {kilobytes(wasted)} are for nothing."
                ),
                measured=round(wasted),
                threshold=WASTE,
                requests=(image.url,),
                cause=page.local(image.url),
            )


def _sizes(page: PageEvidence) -> dict[str, int]:
    """Return the bytes of each resource by URL, from either source that knows them."""
    timed = {
        entry.url: entry.transfer_bytes or entry.body_bytes for entry in page.facts.resources
    }
    heard = {
        request.url: request.transfer_bytes or request.body_bytes for request in page.requests
    }
    return timed | {url: size for url, size in heard.items() if size}


def _wasted(image: Image, size: int, pixel_ratio: float) -> float:
    density = max(pixel_ratio, DENSITY)
    needed = image.width * image.height * density * density
    own = image.natural_width * image.natural_height
    return size * (1 - needed / own) if needed < own and needed > 0 else 0.0


RULE = Rule(
    id="performance/oversized-image",
    title="Oversized image",
    source="Lighthouse, uses-responsive-images; waste measured against twice the shown size",
    impact="The page loads slowly and costs visitors data for pixels nobody sees.",
    fix_hint="Scale the file down, or offer sizes with srcset and sizes.",
    check=check,
)
