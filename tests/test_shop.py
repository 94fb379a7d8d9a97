"""The demo shop: planted where the manifest says so, sound everywhere else."""

from __future__ import annotations

import gzip
import http.client
import json
import re
import threading
import urllib.error
import urllib.request
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest

from fixtures.shop_server import MOVED, ROOT, serve_shop

MANIFEST = json.loads((ROOT / "defects.json").read_text(encoding="utf-8"))["defects"]
PAGES = (
    "/",
    "/shop",
    "/shop/stillwater-vase",
    "/shop/morning-cup",
    "/shop/harvest-bowl",
    "/shop/ember-teapot",
    "/cart",
    "/checkout",
    "/account",
    "/help",
    "/contact",
    "/about",
)
# Defects that no file holds: how the server answers is all there is of them.
BY_THE_SERVER = {
    "orders-api-500": "/api/orders",
    "reviews-not-json": "/api/reviews/ember-teapot",
    "uncompressed-search-index": "/js/search-index.js",
}
SOURCES = sorted(path for path in ROOT.rglob("*") if path.suffix in (".html", ".css", ".js"))


@pytest.fixture(scope="module")
def planted():
    with serve_shop() as url:
        yield url


@pytest.fixture(scope="module")
def clean():
    with serve_shop(planted=False) as url:
        yield url


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


def ask(url, method="GET", **heads):
    """Return ``(status, headers, body)``; redirects are not followed."""
    heads = {name.replace("_", "-"): value for name, value in heads.items()}
    request = urllib.request.Request(url, method=method, headers=heads)
    try:
        with urllib.request.build_opener(NoRedirect).open(request, timeout=5) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def text(url):
    return ask(url)[2].decode().replace(urlsplit(url).netloc, "")


class References(HTMLParser):
    """The addresses a page names."""

    def __init__(self, url):
        super().__init__()
        self.found = set()
        self.url = url
        self.feed(text(url))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src", "data-show") and not value.startswith("#"):
                self.found.add(urljoin(self.url, value))


def sections(path):
    """Return the ids of the defects that stand in the file ``path``."""
    return set(re.findall(r"\{\{#(?:defect|sound) ([\w-]+)\}\}", path.read_text("utf-8")))


def references(base):
    return set().union(*(References(base + page).found for page in (*PAGES, "/nothing-here")))


# --- the manifest --------------------------------------------------------------------------


def test_about_twenty_defects_of_all_categories_are_planted():
    assert 20 <= len(MANIFEST) <= 30
    assert len({defect["id"] for defect in MANIFEST}) == len(MANIFEST)
    categories = {defect["rule"].split("/")[0] for defect in MANIFEST}
    assert categories == {"functional", "visual", "accessibility", "performance", "network"}
    assert len({(defect["page"], defect["rule"]) for defect in MANIFEST}) == len(MANIFEST)


@pytest.mark.parametrize("defect", MANIFEST, ids=lambda defect: defect["id"])
def test_a_defect_names_its_page_a_rule_that_exists_and_what_it_costs(defect):
    from vfa.audit.rules import all_rules

    known = {rule.id for rule in all_rules()}
    assert defect["page"] in PAGES
    assert {defect["rule"], *defect.get("also", ())} <= known
    assert defect["names"] or defect["rule"] == "accessibility/page-title"
    assert len(defect["why"]) > 30


def test_what_is_planted_in_files_is_what_the_manifest_lists():
    assert (
        set().union(*map(sections, SOURCES))
        == {defect["id"] for defect in MANIFEST} - BY_THE_SERVER.keys()
    )


# --- the twins ------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_pages_differ_between_the_twins_only_where_a_defect_is(planted, clean, page):
    pages = [path for path in SOURCES if path.suffix == ".html"]
    held = set().union(*map(sections, pages)) & {d["id"] for d in MANIFEST if d["page"] == page}
    assert (text(planted + page) != text(clean + page)) == bool(held)


def test_scripts_styles_and_pictures_differ_only_where_a_defect_is(planted, clean):
    changed = {
        path.relative_to(ROOT).as_posix()
        for folder in ("css", "js", "img", "icons")
        for path in (ROOT / folder).iterdir()
        if ask(f"{planted}/{folder}/{path.name}")[2] != ask(f"{clean}/{folder}/{path.name}")[2]
    }
    assert changed == {"css/site.css", "js/cart.js", "js/product.js"}


def test_no_template_mark_is_left_in_what_is_served(planted, clean):
    for base in (planted, clean):
        for page in (*PAGES, "/css/site.css", "/js/product.js", "/js/cart.js", "/nothing-here"):
            assert "{{" not in text(base + page)


def test_every_reference_of_the_clean_twin_resolves(clean):
    broken = {url for url in references(clean) if ask(url)[0] != 200}
    assert broken == set()


def test_only_planted_references_do_not_resolve(planted):
    broken = {urlsplit(url).path for url in references(planted) if ask(url)[0] != 200}
    assert broken == {"/studio-visits", "/img/ines.jpeg", "/media/2019/morning-cup-detail.jpg"}


def test_every_page_can_be_reached_from_home(clean):
    assert set(PAGES) <= {urlsplit(url).path for url in References(clean + "/").found}


# --- what the server does on purpose ---------------------------------------------------------


def test_the_orders_fail_and_the_twin_has_them(planted, clean):
    assert ask(planted + "/api/orders")[0] == 500
    assert len(json.loads(ask(clean + "/api/orders")[2])["orders"]) == 3


def test_the_reviews_claim_to_be_json_and_are_not(planted, clean):
    status, heads, body = ask(planted + "/api/reviews/ember-teapot")
    assert (status, heads["Content-Type"]) == (200, "application/json")
    with pytest.raises(json.JSONDecodeError):
        json.loads(body)
    json.loads(ask(clean + "/api/reviews/ember-teapot")[2])
    json.loads(ask(planted + "/api/reviews/morning-cup")[2])


def test_the_old_picture_takes_four_redirects(planted):
    path, hops = "/media/2019/morning-cup-detail.jpg", 0
    while path in MOVED:
        status, heads, _ = ask(planted + path)
        assert status == 301
        path, hops = heads["Location"], hops + 1
    assert hops == 4
    assert ask(planted + path)[0] == 200


def test_nobody_answers_at_the_chat(planted):
    address = re.search(r'data-presence="([^"]+)"', ask(planted + "/help")[2].decode())[1]
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(address, timeout=5)


def test_text_is_compressed_except_for_the_planted_file(planted, clean):
    for base in (planted, clean):
        for url in [base + page for page in PAGES] + [*references(base)]:
            _, heads, body = ask(url, Accept_Encoding="gzip")
            kind = heads["Content-Type"] or ""
            if (
                not kind.startswith(("text/", "image/svg", "application/json"))
                or len(body) < 256
            ):
                continue
            forgotten = base is planted and url.endswith("/search-index.js")
            assert (heads["Content-Encoding"] == "gzip") != forgotten, url


def test_compression_is_only_for_those_who_ask(clean):
    plain = ask(clean + "/shop")
    packed = ask(clean + "/shop", Accept_Encoding="br, gzip")
    assert plain[1]["Content-Encoding"] is None
    assert gzip.decompress(packed[2]) == plain[2]
    assert packed[1]["Vary"] == "Accept-Encoding"


def test_files_may_be_kept_and_pages_are_asked_for_again(clean):
    assert "max-age" in ask(clean + "/img/hero.jpg")[1]["Cache-Control"]
    heads = ask(clean + "/about")[1]
    assert heads["Cache-Control"] == "no-cache"
    assert ask(clean + "/about", If_None_Match=heads["ETag"])[::2] == (304, b"")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/css/site.css", "text/css; charset=utf-8"),
        ("/js/site.js", "text/javascript; charset=utf-8"),
        ("/img/hero.jpg", "image/jpeg"),
        ("/img/touch-icon.png", "image/png"),
        ("/icons/favicon.svg", "image/svg+xml; charset=utf-8"),
        ("/api/delivery", "application/json"),
    ],
)
def test_answers_have_their_type_and_may_not_be_guessed_at(clean, path, kind):
    heads = ask(clean + path)[1]
    assert heads["Content-Type"] == kind
    assert heads["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/nothing", "/404", "/img/none.png", "/api/none", "/pages/cart"]
)
def test_what_does_not_exist_is_a_404(clean, path):
    assert ask(clean + path)[0] == 404


@pytest.mark.parametrize(
    "path",
    [
        "/img/../../shop_server.py",
        "/img/%2e%2e/%2e%2e/shop_server.py",
        "/../defects.json",
        "/css//etc/passwd",
    ],
)
def test_nothing_outside_the_shop_is_served(clean, path):
    parts = urlsplit(clean)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
    connection.putrequest("GET", path, skip_host=False)
    connection.endheaders()
    assert connection.getresponse().status == 404
    connection.close()


# --- the server as a tool ---------------------------------------------------------------------


def test_writes_are_counted_and_reads_are_not():
    with serve_shop() as url:
        ask(url + "/shop")
        ask(url + "/shop", method="HEAD")
        assert url.shop.writes == []
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            ask(url + "/api/contact", method=method)
        assert url.shop.writes == [
            f"{m} /api/contact" for m in ("POST", "PUT", "PATCH", "DELETE")
        ]
        assert url.shop.requests[0] == "GET /shop"


def test_a_connection_serves_many_requests():
    with serve_shop() as url:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
        for path in ("/", "/shop", "/nothing", "/cart"):
            connection.request("POST" if path == "/cart" else "GET", path, body=b"a=b")
            answer = connection.getresponse()
            answer.read()
            assert not answer.will_close
        connection.close()


def test_closing_ends_open_connections_and_leaves_no_thread():
    before = set(threading.enumerate())
    with serve_shop() as url:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
        connection.request("GET", "/")
        connection.getresponse().read()
    assert set(threading.enumerate()) == before
    connection.close()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(url, timeout=5)


def test_it_listens_on_loopback_only(planted):
    assert planted.startswith("http://127.0.0.1:")


def test_two_shops_run_beside_each_other(planted, clean):
    assert planted != clean
    assert "Ostermill" in text(planted + "/")
    assert "Ostermill" in text(clean + "/")
