"""Which links of a page a crawl may follow, which it only checks, and which it leaves alone.

Pure: URLs and link facts in, decisions out. Following a link means loading its page; checking
it means asking for its status. A link that would sign out or delete something is not even
asked for, since a GET may be enough to do it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import msgspec

from vfa.audit.evidence import origin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vfa.audit.evidence import Link

# Parameters that say where a visitor came from, or who it is; the page is the same.
TRACKING = re.compile(
    r"^(utm_\w+|gclid|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_[ce]id|"
    r"_ga|_gl|_hs\w+|hsa_\w+|vero_\w+|pk_\w+|mtm_\w+|phpsessid|jsessionid|sessionid|aspsessionid\w*)$",
    re.IGNORECASE,
)
SESSION_IN_PATH = re.compile(r";jsessionid=[^/?]*", re.IGNORECASE)
ACTING_URL = re.compile(
    r"(^|[/?&=._-])(log-?out|log-?off|sign-?out|signoff|delete|remove|destroy|erase|unsubscribe|"
    r"deactivate|cerrar-?sesion|salir|eliminar|borrar|suprimir|baja|desconectar)([/?&=._-]|$)",
    re.IGNORECASE,
)
ACTING_NAME = re.compile(
    r"^\W*(log ?out|log ?off|sign ?out|delete|remove|erase|unsubscribe|deactivate|"
    r"cerrar (la )?sesi[oó]n|salir|eliminar|borrar|suprimir|darse de baja|desconectar(se)?)\b",
    re.IGNORECASE,
)
DOWNLOAD_URL = re.compile(
    r"(^|[/?&=_-])(download|descarga(r)?|export(ar)?)([/?&=_.-]|$)", re.IGNORECASE
)
# Files that are no pages. Unknown endings (.php, .aspx, versions) are pages.
FILES = """
7z aac apk avi avif bmp bz2 css csv dmg doc docx eps epub exe flac gif gz ico ics iso jar jpeg
jpg js json m4a m4v map mkv mov mp3 mp4 mpeg msi odp ods odt ogg otf pdf pkg png ppt pptx ps
rar rss rtf svg tar tgz tif tiff ttf txt wav webm webp woff woff2 xls xlsx xml zip
"""
VARYING = re.compile(
    r"^(\d+|[0-9a-f]{8,}|[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d(-\d\d)?)$", re.IGNORECASE
)
NUMBERED = re.compile(r"\d+")
SIBLINGS = 4  # pages beside each other from which they are taken for items of one list


class Sorted(msgspec.Struct, frozen=True):
    """Folded URLs in document order, each once."""

    follow: tuple[str, ...]
    check: tuple[str, ...]  # besides those: asked for their status only


def fold(url: str) -> str:
    """Return the address by which a page is known: no fragment, tracking or default port.

    Returns "" for what is not an http(s) URL.
    """
    base = origin(url)
    if not base.startswith(("http:", "https:")):
        return ""
    parts = urlsplit(url)
    path = SESSION_IN_PATH.sub("", parts.path) or "/"
    scheme, _, host = base.partition("://")
    return urlunsplit((scheme, host, path, _without_tracking(parts.query), ""))


def sort_links(page_url: str, links: Iterable[Link]) -> Sorted:
    """Sort the links of the page at ``page_url``. Only its own origin is ever asked."""
    follow: dict[str, None] = {}
    check: dict[str, None] = {}
    here = fold(page_url)
    for link in links:
        url = fold(link.url)
        if not url or url == here or origin(url) != origin(here) or _acts(link):
            continue
        (check if _is_file(link, url) else follow)[url] = None
    return Sorted(tuple(follow), tuple(url for url in check if url not in follow))


def choose(urls: Iterable[str], room: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Choose the pages to visit when there may be more than ``room``.

    Args:
        urls: Folded, in the order of discovery, without those already visited.
        room: Pages that may still be visited.

    Returns:
        The chosen URLs in order of discovery, and those left out. Where not all fit, each
        template is visited once before any is visited twice.
    """
    found = list(dict.fromkeys(urls))
    if len(found) <= room:
        return tuple(found), ()
    names = templates(found)
    round_of: Counter[str] = Counter()
    ranked: list[tuple[int, int, str]] = []
    for place, url in enumerate(found):
        ranked.append((round_of[names[url]], place, url))
        round_of[names[url]] += 1
    taken = {url for _, _, url in sorted(ranked)[: max(0, room)]}
    return (
        tuple(url for url in found if url in taken),
        tuple(url for url in found if url not in taken),
    )


def templates(urls: Iterable[str]) -> dict[str, str]:
    """Return the template of each URL: ``/product/1`` and ``/product/2`` have the same.

    Pages without a number are taken for items of one list where many lie beside each other.
    """
    plain = {url: _template(url) for url in urls}
    beside = Counter(_folder(template) for template in plain.values())
    return {
        url: f"{_folder(template)}/*"
        if _folder(template).count("/") > 2 and beside[_folder(template)] >= SIBLINGS
        else template
        for url, template in plain.items()
    }


def _template(url: str) -> str:
    parts = urlsplit(url)
    path = "/".join(
        "{}" if VARYING.match(step) else NUMBERED.sub("{}", step)
        for step in parts.path.split("/")
    )
    names = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    query = "?" + "&".join(sorted(names)) if names else ""
    return f"{parts.scheme}://{parts.netloc}{path}{query}"


def _folder(template: str) -> str:
    return template.partition("?")[0].rpartition("/")[0]


def _without_tracking(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    kept = [(name, value) for name, value in pairs if not TRACKING.match(name)]
    # What needs no change is left as it was written: some servers care about the spelling.
    return query if len(kept) == len(pairs) else urlencode(kept)


def _acts(link: Link) -> bool:
    parts = urlsplit(link.url)
    address = f"{parts.path}?{parts.query}"
    return ACTING_URL.search(address) is not None or ACTING_NAME.match(link.name) is not None


def _is_file(link: Link, url: str) -> bool:
    parts = urlsplit(url)
    ending = parts.path.rpartition("/")[2].rpartition(".")[2].lower()
    address = f"{parts.path}?{parts.query}"
    return link.download or ending in _FILES or DOWNLOAD_URL.search(address) is not None


_FILES = frozenset(FILES.split())
