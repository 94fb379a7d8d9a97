"""Hand-made evidence: pages as rules see them, with only what a test is about."""

from __future__ import annotations

from vfa.audit.evidence import Document, Facts, PageEvidence
from vfa.audit.findings import Box
from vfa.page.records import PageException, Request

URL = "http://shop.test/list"
BOX = Box(10, 10, 200, 100)
# A page nobody can find fault with.
DOCUMENT = {
    "url": URL,
    "title": "Spades - Garden tools",
    "lang": "en",
    "viewport_meta": "width=device-width, initial-scale=1",
    "client_width": 1440,
    "client_height": 900,
    "scroll_width": 1440,
    "scroll_height": 900,
    "elements": 50,
    "text_length": 200,
    "painted": 3,
}


def make_page(url=URL, *, document=None, device="desktop", status=200, **parts):
    """Return a page; ``parts`` are fields of ``PageEvidence`` or of ``Facts``."""
    own = {name: parts.pop(name) for name in list(parts) if name in EVIDENCE_FIELDS}
    facts = Facts(document=Document(**(DOCUMENT | (document or {}))), **parts)
    return PageEvidence(url=url, status=status, device=device, facts=facts, **own)


EVIDENCE_FIELDS = frozenset(PageEvidence.__struct_fields__)


def element(struct, selector="#it", /, **fields):
    """Return an element: visible, exposed and of some size."""
    return struct(selector=selector, **({"box": BOX, "shape": "main > it"} | fields))


def request(path="/x", **fields):
    url = path if "//" in path else f"http://shop.test{path}"
    return Request(url=url, **({"status": 200, "end_ms": 100.0, "kind": "Fetch"} | fields))


def exception(message="TypeError: x is undefined", **fields):
    return PageException(message=message, timestamp=0.0, **fields)
