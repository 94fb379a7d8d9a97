"""Where a crawl goes: breadth first, bounded, no page twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vfa.audit.evidence import Facts, Link, PageEvidence
from vfa.audit.frontier import Frontier


def page(url, *links, final="") -> PageEvidence:
    found = tuple(Link(selector=f"#{n}", href=link, url=link) for n, link in enumerate(links))
    return PageEvidence(url=url, final_url=final, facts=Facts(links=found))


def crawl(graph, **limits):
    """Visit ``graph`` (URL to links) from its first page; return (url, depth) in order."""
    frontier = Frontier(next(iter(graph)), **limits)
    visited = []
    while (goal := frontier.next()) is not None:
        visited.append((goal.url, goal.depth))
        frontier.arrived(page(goal.url, *graph.get(goal.url, ())))
    return visited, frontier


A, B, C, D = (f"http://a/{name}" for name in "abcd")


def test_depth_counts_clicks_from_the_entry_page():
    graph = {A: [B], B: [C], C: [D]}
    assert crawl(graph, max_depth=0, max_pages=9)[0] == [(A, 0)]
    assert crawl(graph, max_depth=2, max_pages=9)[0] == [(A, 0), (B, 1), (C, 2)]


def test_a_circle_is_walked_once():
    assert len(crawl({A: [B, A], B: [A, B]}, max_depth=9, max_pages=9)[0]) == 2


def test_other_origins_are_never_entered():
    visited, frontier = crawl({A: ["http://b/x", "mailto:a@b"]}, max_depth=3, max_pages=9)
    assert visited == [(A, 0)]
    assert frontier.not_visited == ()


def test_links_that_were_not_visited_are_known_for_checking():
    _, frontier = crawl({A: [B, C]}, max_depth=0, max_pages=9)
    assert frontier.not_visited == (B, C)
    _, frontier = crawl({A: [B, C, D]}, max_depth=1, max_pages=2)
    assert len(frontier.not_visited) == 2
    assert frontier.left_out == 2


def test_two_links_to_one_page_by_redirection_are_one_page():
    frontier = Frontier(A, max_depth=1, max_pages=9)
    frontier.next()
    assert frontier.arrived(page(A, B, C))
    frontier.next()
    assert frontier.arrived(page(B, final=D))
    frontier.next()
    assert not frontier.arrived(page(C, final=D))


urls = st.integers(0, 12).map(lambda n: f"http://a/{n}")


@given(
    st.dictionaries(urls, st.lists(urls, max_size=6), min_size=1, max_size=10),
    st.integers(0, 4),
    st.integers(1, 6),
)
def test_no_crawl_visits_a_page_twice_or_more_pages_than_allowed(graph, depth, pages):
    visited, frontier = crawl(graph, max_depth=depth, max_pages=pages)
    places = [url for url, _ in visited]
    assert len(places) == len(set(places)) <= pages
    assert all(at <= depth for _, at in visited)
    assert [at for _, at in visited] == sorted(at for _, at in visited)
    assert not set(places) & set(frontier.not_visited)
