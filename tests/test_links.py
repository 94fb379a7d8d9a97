"""Which links a crawl follows, checks, or leaves alone."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from tests.evidence import element
from vfa.audit.evidence import Link
from vfa.audit.links import choose, fold, sort_links, templates

HOME = "http://shop.test/"


def link(url, name="x", **fields):
    return element(Link, href=url, url=url, name=name, **fields)


@pytest.mark.parametrize(
    ("url", "folded"),
    [
        ("http://Shop.test:80", "http://shop.test/"),
        ("https://shop.test:443/a#b", "https://shop.test/a"),
        ("http://shop.test:8080/a?utm_source=x&b=1&gclid=2", "http://shop.test:8080/a?b=1"),
        ("http://shop.test/a;jsessionid=AB?q=a%20b", "http://shop.test/a?q=a%20b"),
        ("mailto:a@b.test", ""),
        ("javascript:void(0)", ""),
        ("http://[bad/", ""),
        ("", ""),
    ],
)
def test_folding_keeps_only_what_names_the_page(url, folded):
    assert fold(url) == folded


def test_pages_are_followed_files_are_checked_and_other_origins_left_alone():
    links = [
        link("http://shop.test/list?utm_campaign=x#top"),
        link("http://shop.test/list"),
        link("http://shop.test/"),
        link("http://shop.test/price.pdf"),
        link("http://shop.test/data", download=True),
        link("http://shop.test/export?format=csv"),
        link("http://shop.test/page.php"),
        link("https://shop.test/secure"),
        link("http://cdn.test/x"),
        link("mailto:a@b.test"),
    ]
    found = sort_links(HOME, links)
    assert found.follow == ("http://shop.test/list", "http://shop.test/page.php")
    assert found.check == (
        "http://shop.test/price.pdf",
        "http://shop.test/data",
        "http://shop.test/export?format=csv",
    )


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("/logout", "x"),
        ("/account/sign-out?next=/", "x"),
        ("/index.php?action=logout", "x"),
        ("/item/5/delete", "x"),
        ("/cerrar-sesion", "x"),
        ("/session", "Log out"),
        ("/s", "Cerrar sesión"),
        ("/n", "Unsubscribe from all"),
    ],
)
def test_links_that_act_are_not_even_checked(url, name):
    assert sort_links(HOME, [link("http://shop.test" + url, name)]) == sort_links(HOME, [])


@pytest.mark.parametrize("url", ["/blog/how-to-delete-weeds-safely-ok", "/salads", "/outlog"])
def test_ordinary_pages_are_not_taken_for_acting_ones(url):
    found = sort_links(HOME, [link("http://shop.test" + url)])
    assert bool(found.follow) is ("delete" not in url)


def test_a_template_is_visited_once_before_any_is_visited_twice():
    urls = [f"http://shop.test/product/{n}" for n in range(1, 6)] + ["http://shop.test/about"]
    chosen, left = choose(urls, 3)
    assert chosen == (urls[0], urls[1], "http://shop.test/about")
    assert left == tuple(urls[2:5])


def test_everything_is_visited_where_everything_fits():
    urls = [f"http://shop.test/product/{n}" for n in range(4)]
    assert choose(urls, 4) == (tuple(urls), ())


def test_named_items_of_one_list_are_one_template():
    names = ["red-spade", "blue-rake", "old-hoe", "new-pot"]
    urls = [f"http://shop.test/tools/{name}" for name in names] + ["http://shop.test/help"]
    assert len(set(templates(urls).values())) == 2
    pages = [f"http://shop.test/{name}" for name in names]
    assert len(set(templates(pages).values())) == 4


PATHS = st.lists(st.sampled_from("abc123"), max_size=4).map(
    lambda parts: HOME + "/".join(parts)
)


@given(st.lists(PATHS, max_size=15), st.integers(0, 8))
def test_choosing_loses_nothing_and_keeps_to_the_room(urls, room):
    chosen, left = choose(urls, room)
    assert sorted(chosen + left) == sorted(set(urls))
    assert len(chosen) == min(room, len(set(urls)))
    together = templates(list(dict.fromkeys(urls)))
    visited = {together[url] for url in chosen}
    if len(visited) < len(chosen):  # some template twice: then none was left out
        assert {together[url] for url in left} <= visited


@given(st.text(max_size=60))
def test_folding_is_idempotent_and_never_fails(text):
    for url in (text, HOME + text, HOME + "?" + text):
        assert fold(fold(url)) == fold(url)
