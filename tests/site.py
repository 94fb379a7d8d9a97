"""A small web site on loopback whose pages a test writes itself."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from email.message import Message


class Site:
    """Pages by path: text of a body, or ``(status, headers, body)``; ``hang`` never answers."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.pages: dict[str, object] = {}
        self.asked: list[tuple[str, str]] = []  # (method, path with query)
        self.headers: dict[str, Message] = {}  # of the last request, by path
        self.released = threading.Event()

    def url(self, path: str = "/") -> str:
        return self.address + path

    def page(self, path: str, body: str, *, title: str = "A page") -> str:
        """Add an HTML page; return its URL."""
        self.pages[path] = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>{body}'
        )
        return self.url(path)

    def hang(self, path: str) -> str:
        """Add a path that never answers."""
        self.pages[path] = None
        return self.url(path)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_GET(self) -> None:
        self.site.asked.append((self.command, self.path))
        length = int(self.headers.get("Content-Length") or 0)
        if length:
            self.rfile.read(length)
        path = self.path.partition("?")[0]
        self.site.headers[path] = self.headers
        if path not in self.site.pages:
            return self._answer(404, {"Content-Type": "text/html"}, "<title>gone</title>no")
        page = self.site.pages[path]
        if page is None:
            self.site.released.wait(60)
            self.close_connection = True
            return None
        if isinstance(page, str):
            return self._answer(200, {"Content-Type": "text/html; charset=utf-8"}, page)
        return self._answer(*page)

    do_POST = do_PUT = do_DELETE = do_PATCH = do_GET  # noqa: N815  # the library's names

    def _answer(self, status: int, headers: dict[str, str], body: str | bytes) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status not in {204, 304}:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if status not in {204, 304} and self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *arguments: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address) -> None:
        """A browser that hangs up is no news."""


@contextmanager
def serve_site():
    server = _Server(("127.0.0.1", 0), _Handler)
    site = Site(f"http://127.0.0.1:{server.server_address[1]}")
    server.RequestHandlerClass = type("Handler", (_Handler,), {"site": site})
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
