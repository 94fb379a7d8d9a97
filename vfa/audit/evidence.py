"""The evidence of one page: everything a rule may look at, as plain data.

``Facts`` is what ``vfa/page/js/collect.js`` returns, field by field; ``PageEvidence`` adds
what the page's protocol events, link checks and probes told. Rules are functions of it and of
nothing else, so an audit can be repeated from a recording.

Owns no task and no browser. Lengths are CSS pixels, positions are page coordinates, times are
milliseconds since the navigation began.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urldefrag, urlsplit

import msgspec

from vfa.audit.findings import Box
from vfa.page.records import ConsoleMessage, PageException, Request, Vitals

Colour = tuple[int, int, int]  # sRGB, 0 … 255 each

NOWHERE = Box(0, 0, 0, 0)


# --- elements ---------------------------------------------------------------------------


class Element(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of every element that is listed at all."""

    selector: str  # shortest that matches just this element; " >>> " enters a shadow root
    tag: str = ""
    role: str = ""  # Chromium's computedRole
    name: str = ""  # Chromium's computedName
    box: Box = NOWHERE
    html: str = ""  # its opening, at most 300 characters
    shape: str = ""  # tag and classes of it and its parents; equal for siblings of one kind
    visible: bool = True  # painted, with a size, and not hidden visually
    exposed: bool = True  # reaches assistive technology: not aria-hidden, inert, unrendered


class Cover(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What lies over a control so that a pointer cannot reach it."""

    selector: str
    html: str = ""
    modal: bool = False  # a dialog or its backdrop: meant to block the page
    pinned: bool = False  # fixed or sticky: scrolling may uncover the control
    invisible: bool = False  # paints nothing
    interactive: bool = False
    share: float = 0.0  # of the viewport, 0 … 1


class Control(Element, frozen=True, kw_only=True, omit_defaults=True):
    """Something a user can operate: buttons, links used as such, fields, ARIA widgets."""

    type: str = ""  # of an input or button
    href: str = ""  # the attribute, of a link
    enabled: bool = True
    focusable: bool = True
    tabindex: int | None = None  # the attribute
    text: str = ""  # visible text, at most 80 characters
    state: str = ""  # "current", "selected", "checked", "pressed": already where it leads
    pinned: bool = False  # fixed or sticky, itself or an ancestor
    cover: Cover | None = None  # None also where it could not be tested: outside the viewport
    probe: bool = False  # says it does something when clicked; worth a probe
    danger: bool = False  # pays, buys, deletes, sends, signs out, uploads: never clicked
    submits: bool = False  # submits a form


class Field(Element, frozen=True, kw_only=True, omit_defaults=True):
    """A form field that takes a value."""

    type: str = ""
    named_by: str = ""  # "aria", "label", "title", "placeholder", "value"; empty: nothing
    placeholder: str = ""
    required: bool = False
    search: bool = False  # a search field, whose purpose its place tells
    enabled: bool = True


class Label(Element, frozen=True, kw_only=True, omit_defaults=True):
    """A ``<label>`` and the field that it is bound to, and the one that it stands beside."""

    target: str  # its ``for`` attribute; empty if it has none
    bound: str = ""  # selector of ``label.control``
    same_id: int = 0  # elements that have ``target`` as their id
    nearest: str = ""  # selector of the field beside the label
    nearest_labels: int = 0  # labels and aria names of that field
    bound_labels: int = 0  # labels of ``bound``


class Link(Element, frozen=True, kw_only=True, omit_defaults=True):
    """An ``<a href>`` or ``<area href>``."""

    href: str  # the attribute
    url: str = ""  # resolved; empty if it cannot be
    text: str = ""
    target: str = ""
    rel: str = ""
    download: bool = False
    fragment_found: bool | None = None  # None: no fragment into this document
    scripted: bool = False  # has signs of a script: onclick, ARIA state, data-toggle …


class Image(Element, frozen=True, kw_only=True, omit_defaults=True):
    """An ``<img>``, ``<input type=image>``, or an element with ``role=img``."""

    kind: str = "img"  # img, input, role
    url: str = ""  # what was chosen to be shown
    alt: str | None = None
    decorative: bool = False
    complete: bool = True  # loading has ended, well or not
    lazy: bool = False
    natural_width: float = 0.0
    natural_height: float = 0.0
    width: float = 0.0  # of the content box
    height: float = 0.0
    fit: str = "fill"  # object-fit
    sized: bool = True  # has a height before it is loaded
    in_flow: bool = True  # its size moves what comes after it
    named_parent: bool = False  # inside a link or button that has a name


class Heading(Element, frozen=True, kw_only=True, omit_defaults=True):
    """``h1`` … ``h6`` or ``role=heading``."""

    level: int
    text: str = ""


class Landmark(Element, frozen=True, kw_only=True, omit_defaults=True):
    """A region that assistive technology can jump to."""


class Frame(Element, frozen=True, kw_only=True, omit_defaults=True):
    """An ``<iframe>`` or ``<frame>``, seen from outside."""

    src: str = ""
    tabindex: int | None = None


class Form(Element, frozen=True, kw_only=True, omit_defaults=True):
    """A ``<form>``."""

    action: str = ""  # resolved
    method: str = "get"
    fields: int = 0
    submit: bool = False  # has a way to be submitted


class Text(Element, frozen=True, kw_only=True, omit_defaults=True):
    """Visible text whose contrast may be too low, with the colours that reach the eye."""

    text: str  # at most 80 characters
    colour: Colour
    background: Colour
    font_size: float
    font_weight: int = 400
    count: int = 1  # elements of this shape with the same colours, size and weight


class ClippedText(Element, frozen=True, kw_only=True, omit_defaults=True):
    """Text that its own box cuts off."""

    text: str  # at most 80 characters
    axis: str  # "x" or "y"
    hidden: float  # pixels cut off
    ellipsis: bool = False  # text-overflow or line-clamp says that there is more
    affordance: bool = False  # a title, a tooltip, a link or a button gives the rest


class Wide(Element, frozen=True, kw_only=True, omit_defaults=True):
    """An element that reaches beyond the right edge of the page."""

    beyond: float  # pixels


class Resource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of the page's own resource timing."""

    url: str
    kind: str = ""  # initiatorType
    start_ms: float = 0.0
    end_ms: float = 0.0
    transfer_bytes: int = 0
    body_bytes: int = 0
    render_blocking: bool = False


class Document(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Facts of the document as a whole."""

    url: str = ""
    title: str = ""
    lang: str | None = None  # None: no attribute
    content_type: str = "text/html"
    quirks: bool = False
    viewport_meta: str | None = None
    refresh_meta: str = ""
    icons: tuple[str, ...] = ()  # URLs the page itself names as its icons
    client_width: float = 0.0  # layout viewport, without a scroll bar
    client_height: float = 0.0
    scroll_width: float = 0.0
    scroll_height: float = 0.0
    scrolls_x: bool = True  # a user can scroll sideways where it is wider than the viewport
    pixel_ratio: float = 1.0
    elements: int = 0
    text_length: int = 0  # visible characters, without white space
    painted: int = 0  # visible pictures, canvases, videos, frames, drawn backgrounds, controls


class Facts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer of ``collect.js``. Lists are in document order and capped."""

    document: Document = Document()
    controls: tuple[Control, ...] = ()
    fields: tuple[Field, ...] = ()
    labels: tuple[Label, ...] = ()
    links: tuple[Link, ...] = ()
    images: tuple[Image, ...] = ()
    headings: tuple[Heading, ...] = ()
    landmarks: tuple[Landmark, ...] = ()
    frames: tuple[Frame, ...] = ()
    forms: tuple[Form, ...] = ()
    texts: tuple[Text, ...] = ()
    clipped: tuple[ClippedText, ...] = ()
    wide: tuple[Wide, ...] = ()
    resources: tuple[Resource, ...] = ()
    vitals: Vitals = Vitals()
    # List name -> how many were left out of it; "computed" -> roles and names that are ours
    # rather than Chromium's, since its own took too long.
    omitted: dict[str, int] = {}
    collect_ms: float = 0.0  # time the pass took in the page


# --- what other sources tell -------------------------------------------------------------


class LinkCheck(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to a light request for a link, or to the visit of it."""

    status: int | None = None  # None: no answer
    error: str = ""  # "net::ERR_…", "timeout"; empty if there was an answer


class ProbeResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a trial click on a control did.

    ``effects`` names what was observed: navigation, fragment (only the URL's fragment
    changed), request, dom, attribute, focus, scroll, dialog, download, popup, clipboard,
    storage, animation, media.
    """

    selector: str
    name: str = ""
    role: str = ""
    box: Box = NOWHERE
    html: str = ""
    effects: tuple[str, ...] = ()
    clicked: bool = False
    skipped_reason: str = ""


class PageEvidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One page, loaded once, as every rule sees it."""

    url: str  # what was asked for
    final_url: str = ""  # where it led; empty: the same
    status: int | None = None
    device: str = "desktop"
    viewport: tuple[int, int] = (1440, 900)
    facts: Facts = Facts()
    requests: tuple[Request, ...] = ()
    console: tuple[ConsoleMessage, ...] = ()
    exceptions: tuple[PageException, ...] = ()
    link_checks: dict[str, LinkCheck] = {}  # by URL without fragment
    json_faults: dict[str, str] = {}  # URL of an answer that claims to be JSON -> why it is not
    dead_controls: tuple[ProbeResult, ...] = ()  # every probe, effective ones included

    @property
    def address(self) -> str:
        """The URL of the document that was examined, without its fragment."""
        return urldefrag(self.final_url or self.url).url

    @property
    def title(self) -> str:
        """The document's title."""
        return self.facts.document.title

    @property
    def vitals(self) -> Vitals:
        """The Web Vitals of this load."""
        return self.facts.vitals

    @property
    def console_errors(self) -> int:
        """How many console messages are errors."""
        return sum(message.level == "error" for message in self.console)

    def same_origin(self, url: str) -> bool:
        """Tell whether ``url`` has the scheme, host and port of this page."""
        return origin(url) == origin(self.address)

    def local(self, url: str) -> str:
        """Return ``url`` without its origin if that is this page's, else unchanged.

        What goes into a finding's key must not change with the port of a test server.
        """
        if not self.same_origin(url):
            return url
        parts = urlsplit(url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def probes(self) -> dict[str, ProbeResult]:
        """Return the probe results by selector."""
        return {probe.selector: probe for probe in self.dead_controls}


def origin(url: str) -> str:
    """Return scheme, host and port of ``url``, the default port left out; "" if it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    if not parts.hostname:
        return ""
    default = {"http": 80, "https": 443}.get(parts.scheme)
    suffix = f":{port}" if port and port != default else ""
    return f"{parts.scheme}://{parts.hostname}{suffix}"


def decode_facts(answer: bytes | msgspec.Raw | dict[str, Any]) -> Facts:
    """Read the answer of ``collect.js``: its JSON text, or the value already decoded."""
    if isinstance(answer, dict):
        return msgspec.convert(answer, Facts)
    return msgspec.json.decode(answer, type=Facts)
