"""The listener of one run: a port on loopback, and a secret that only its browser has.

Any program of this machine can connect to a port. So each listener has a secret of its own,
which Chromium is given once, when its proxy asks for a password (``authorize`` in
``vfa/page/proxy_password.py``), and which it then sends along with every request and tunnel by
itself. Who does not know it gets 407 and nothing else. A check of the process behind a
connection would have to look through all descriptors of all processes for every connection,
and works on Linux only.
"""

from __future__ import annotations

import base64
import logging
import secrets
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from vfa.egress.dial import Dialler
from vfa.egress.refusals import Record
from vfa.policy.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from vfa.egress.refusals import Failure
    from vfa.egress.upstream import Upstreams
    from vfa.policy.network import Policy
    from vfa.policy.resolve import Resolver

logger = logging.getLogger(__name__)

USER = "vfa"
GREETING = "http://vfa.invalid/"  # asked for by us alone, to make Chromium learn the secret
MAX_CONNECTIONS = 256  # at once; Chromium opens 32 to a proxy, and more for sockets
BACKLOG = 128


class Listener:
    """One run's way out."""

    def __init__(self, port: int, policy: Policy) -> None:
        self.port = port
        self.policy = policy
        self.password = secrets.token_urlsafe(24)
        self.record = Record()

    @property
    def server(self) -> str:
        """What Chromium is told: CDP ``proxyServer``, or ``--proxy-server``."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def authorization(self) -> bytes:
        """The value of Proxy-Authorization that Chromium makes of user and password."""
        return b"Basic " + base64.b64encode(f"{USER}:{self.password}".encode())

    def failure(self, host: str, port: int) -> Failure | None:
        """Return why a place was not reached the last time; None if it was."""
        return self.record.failure(host, port)


@asynccontextmanager
async def open_listener(
    policy: Policy,
    upstreams: Upstreams,
    background: trio.Nursery,
    *,
    upstream_resolves: bool = False,
    resolver: Resolver = resolve,
) -> AsyncIterator[Listener]:
    """Serve as a proxy for the length of the block; every connection ends with it.

    Args:
        policy: What may be reached.
        upstreams: Proxies that this machine has to go through.
        background: Where connections are served. A nursery of our own around the block would
            wrap every error that passes through.
        upstream_resolves: Leave names to them.
        resolver: Answers names.
    """
    dialler = Dialler(policy, upstreams, resolver=resolver, upstream_resolves=upstream_resolves)
    (door,) = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=BACKLOG)
    listener = Listener(door.socket.getsockname()[1], policy)
    dialler.refuse_itself(listener.port)
    serving = trio.CancelScope()
    background.start_soon(_accept, door, listener, dialler, serving)
    try:
        yield listener
    finally:
        serving.cancel(reason="the run is over")


async def _accept(
    door: trio.SocketListener, listener: Listener, dialler: Dialler, until: trio.CancelScope
) -> None:
    from vfa.egress.exchange import Exchange  # h11 only where a proxy is opened

    open_now = trio.CapacityLimiter(MAX_CONNECTIONS)

    async def serve(stream: trio.SocketStream) -> None:
        async with stream, open_now:
            exchange = Exchange(
                stream,
                dialler,
                listener.record,
                authorization=listener.authorization,
                greeting=GREETING.encode(),
            )
            await exchange.serve()

    with until:
        await trio.serve_listeners(serve, [door])
