"""The pages that things are measured on: made here, the same everywhere, served on loopback."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Bench</title>'
STYLE = (
    "<style>body{font:16px sans-serif;margin:8px}.card{padding:8px;border:1px solid}</style>"
)


def small() -> str:
    """Ten elements: a form, and a button that counts."""
    return (
        f"{HEAD}{STYLE}<h1>Small</h1><p id=out>0</p><form onsubmit='return false'>"
        "<label>Name <input id=name></label> <label>Mail <input id=mail type=email></label>"
        "<button id=go type=button onclick='out.textContent=+out.textContent+1'>Go</button>"
        "</form>"
        "<div style='height:3000px'></div><a id=end href='#'>End</a>"
    )


def many(count: int) -> str:
    """Rows of a link and a button, ``count`` elements in all."""
    rows = "".join(
        f"<div class=row><a href='/item/{n}'>Item number {n}</a><button>Buy {n}</button></div>"
        for n in range(count // 3)
    )
    return f"{HEAD}{STYLE}<h1>Many</h1><main>{rows}</main>"


def shop() -> str:
    """A shop window: 100 links around 60 product cards."""
    links = "".join(f"<li><a href='/c/{n}'>Category {n}</a></li>" for n in range(40))
    footer = "".join(f"<li><a href='/f/{n}'>Service page {n}</a></li>" for n in range(60))
    cards = "".join(
        f"<article class=card><a href='/p/{n}'><img alt='' width=40 height=40><h3>Product {n}, "
        "a thing for the house</h3></a>"
        f"<p>Lasts for years and comes in {n % 7 + 2} colours.</p>"
        f"<p class=price>€{n * 3 + 9}.99</p><button>Add to basket</button>"
        f"<button aria-label='Remember product {n}'>♥</button></article>"
        for n in range(60)
    )
    return (
        f"{HEAD}{STYLE}<header><nav aria-label=Categories><ul>{links}</ul></nav>"
        "<form role=search><label>Search <input type=search name=q></label>"
        f"<button>Find</button></form></header><main><h1>Shop</h1>{cards}</main><footer><ul>{footer}</ul></footer>"
    )


PAGES = {
    "/small": small(),
    "/2000": many(2_000),
    "/20000": many(20_000),
    "/shop": shop(),
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = PAGES.get(self.path.partition("?")[0], "").encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[str]:
    """Serve the pages for the block; gives their address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
