"""Pictures that could not be loaded or decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import file_name, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import Image, PageEvidence


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the images that ended without a picture."""
    for image in broken_images(page):
        yield about(
            image,
            severity="medium" if image.visible else "low",
            title=f"Image {shown(image.name or file_name(image.url))} does not load",
            description=f"{page.local(image.url)} {_reason(page, image)}.",
            measured="no picture",
            threshold="a decoded picture",
            requests=(image.url,) if not image.url.startswith("data:") else (),
            cause=page.local(image.url)[:200],
        )


def broken_images(page: PageEvidence) -> Iterator[Image]:
    """Yield the ``<img>`` elements of ``page`` that have an address and no picture.

    An image that is waiting to be scrolled to is not complete, so it is not among them.
    """
    for image in page.facts.images:
        ended = image.kind == "img" and image.url and image.complete
        # A vector picture may have no size of its own; only a failed request proves it.
        proven = not _is_vector(image.url) or _failed(page, image)
        if ended and image.natural_width == 0 and proven:
            yield image


def _is_vector(url: str) -> bool:
    return url.partition("?")[0].lower().endswith(".svg") or url.startswith("data:image/svg")


def _failed(page: PageEvidence, image: Image) -> bool:
    return any(
        request.url == image.url and (request.failure or (request.status or 0) >= 400)
        for request in page.requests
    )


def _reason(page: PageEvidence, image: Image) -> str:
    for request in page.requests:
        if request.url == image.url:
            if request.failure:
                return f"failed: {request.failure}"
            if request.status is not None and request.status >= 400:
                return f"answers {request.status}"
            return f"is no picture that can be decoded ({request.mime_type or 'no type'})"
    return "is no picture that can be decoded"


RULE = Rule(
    id="visual/broken-image",
    title="Broken image",
    source="HTML, 4.8.4.3: an image request in the state “broken”",
    impact="Visitors see a gap or a broken-picture sign where the picture should be.",
    fix_hint="Correct the image's src, or put the file where it points to.",
    check=check,
)
