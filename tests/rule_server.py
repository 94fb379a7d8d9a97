"""A loopback server for fixture pages: the files, and answers made to order.

``/_/make/<any name>`` answers as its query says: ``status``, ``delay`` (ms), ``type``,
``size`` (bytes of filler), ``body``, ``png`` (``800x600``, noise), ``gzip``, ``cache``.
``/_/rows/<n>`` is a page of n rows of ten elements; ``/_/hops/<n>`` redirects n times,
``/_/circle`` for ever; ``/_/drop`` hangs up.
"""

from __future__ import annotations

import gzip
import random
import struct
import threading
import time
import zlib
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

ROOT = Path(__file__).parent.parent / "fixtures"
FIXTURES = ROOT / "rules"


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, directory=str(ROOT), **kwargs)

    def do_GET(self):
        parts = urlsplit(self.path)
        if not parts.path.startswith("/_/"):
            super().do_GET()
        elif parts.path == "/_/drop":
            self.close_connection = True
        elif parts.path.startswith("/_/rows/"):
            self._send_html(rows(int(parts.path.rpartition("/")[2])))
        elif parts.path == "/_/circle":
            self._redirect("/_/circle")
        elif parts.path.startswith("/_/hops/"):
            left = int(parts.path.rpartition("/")[2])
            self._redirect(f"/_/hops/{left - 1}" if left > 1 else "/_/make/end?body=end")
        else:
            self._make({name: values[0] for name, values in parse_qs(parts.query).items()})

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.do_GET()

    def guess_type(self, path):
        kind = super().guess_type(path)
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind

    def log_message(self, *args):
        pass

    def _redirect(self, place):
        self.send_response(302)
        self.send_header("Location", place)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send_html(self, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _make(self, wish):
        time.sleep(float(wish.get("delay", 0)) / 1000)
        kind = wish.get("type", "text/plain")
        body = wish.get("body", "").encode()
        if "png" in wish:
            kind, body = "image/png", noise(*(int(side) for side in wish["png"].split("x")))
        body += b"/* filler */\n" * (int(wish.get("size", 0)) // 13)
        self.send_response(int(wish.get("status", 200)))
        if "gzip" in wish:
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        if "cache" in wish:
            self.send_header("Cache-Control", wish["cache"])
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass  # browsers hang up whenever they like


@contextmanager
def serve():
    """Serve until the block ends; gives the origin."""
    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def rows(count):
    """Return a page with ``count`` rows of ten elements, some of each kind."""
    row = (
        '<tr class="row"><td>Row {n}</td><td><a href="/item/{n}">Item {n}</a></td>'
        '<td><button type="button" class="btn">Edit</button></td>'
        '<td><label>Amount <input name="amount{n}"></label></td>'
        '<td style="color:#999"><span>pale {n}</span></td></tr>'
    )
    body = "".join(row.format(n=n) for n in range(count))
    return (
        '<!doctype html><html lang="en"><head><title>Rows</title>'
        '<meta name="viewport" content="width=device-width"></head>'
        f"<body><h1>Rows</h1><table>{body}</table></body></html>"
    )


def noise(width, height):
    """Return a grey PNG that does not compress."""
    dice = random.Random(width * 10_000 + height)
    rows = b"".join(b"\0" + dice.randbytes(width) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
