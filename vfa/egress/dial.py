"""From a name to a connection, with the policy between.

Every address of a name must be allowed, not just the one that is used: a name with one inner
address among outer ones is an attack or a mistake. Of the allowed ones several are tried, each
a moment after the one before (RFC 8305), and the first that answers is taken.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import trio

from vfa.egress.refusals import POLICY, Failure
from vfa.errors import SsrfBlockedError
from vfa.policy.address import judge_address, parse_address
from vfa.policy.resolve import RESOLVE_TIMEOUT, resolve
from vfa.policy.url import is_local_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vfa.egress.upstream import Upstream, Upstreams
    from vfa.policy.network import Policy
    from vfa.policy.resolve import Resolver

CONNECT_TIMEOUT = 20.0  # seconds for all addresses of a name
NEXT_ADDRESS = 0.25  # seconds before the next address is tried beside the first
MAX_ADDRESSES = 8  # of a name that are tried
REMEMBER = 5.0  # seconds that a checked answer of the resolver is used again
MAX_REMEMBERED = 500
HEAD_LIMIT = 65_536  # bytes of an upstream proxy's answer

NET_ERRORS = {
    errno.ECONNREFUSED: "net::ERR_CONNECTION_REFUSED",
    errno.ECONNRESET: "net::ERR_CONNECTION_RESET",
    errno.ETIMEDOUT: "net::ERR_CONNECTION_TIMED_OUT",
    errno.ENETUNREACH: "net::ERR_ADDRESS_UNREACHABLE",
    errno.EHOSTUNREACH: "net::ERR_ADDRESS_UNREACHABLE",
}


class DialError(Exception):
    """Nothing was connected to; ``failure`` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Dialled:
    """A connection, and how it was made."""

    def __init__(
        self, stream: trio.SocketStream, address: str, upstream: Upstream | None
    ) -> None:
        self.stream = stream
        self.address = address
        self.upstream = upstream  # set if requests must be put to a proxy in absolute form


class Dialler:
    """Connects to what one policy allows.

    Args:
        policy: What may be reached.
        upstreams: Proxies to go through.
        resolver: Answers names; of the system unless a test brings its own.
        upstream_resolves: Leave names to the upstream proxy; its answers cannot be checked.
    """

    def __init__(
        self,
        policy: Policy,
        upstreams: Upstreams,
        *,
        resolver: Resolver = resolve,
        upstream_resolves: bool = False,
    ) -> None:
        self._policy = policy
        self._upstreams = upstreams
        self._resolver = resolver
        self._upstream_resolves = upstream_resolves
        self._answers: dict[str, tuple[float, tuple[str, ...]]] = {}
        self._own_port = 0

    def refuse_itself(self, port: int) -> None:
        """Have connections to the proxy's own port on this machine refused."""
        self._own_port = port

    async def dial(self, host: str, port: int, *, tunnel: bool) -> Dialled:
        """Connect to a place.

        Args:
            host: ASCII, lower case; an IPv6 address without brackets.
            port: Its port.
            tunnel: Bytes will be passed through, rather than requests put.

        Raises:
            DialError: The policy refuses it, or nobody answers there.
        """
        try:
            self._policy.check_request(host, port)
            upstream = self._upstreams.for_target(host, secure=tunnel)
            if upstream is not None and self._upstream_resolves:
                return await self._through(upstream, host, port, tunnel=tunnel)
            addresses = await self._addresses(host, port)
            self._check_not_itself(host, port, addresses)
            if upstream is not None:
                # By the address that was checked; always a tunnel, for in a request the
                # proxy would take the name from the URL.
                return await self._through(upstream, addresses[0], port, tunnel=True, name=host)
            stream, address = await self._connect(host, addresses, port)
        except SsrfBlockedError as error:
            raise DialError(Failure(host, port, POLICY, error.message, error.hint)) from None
        return Dialled(stream, address, None)

    def _check_not_itself(self, host: str, port: int, addresses: Sequence[str]) -> None:
        if port == self._own_port and judge_address(addresses[0]) == "loopback":
            raise SsrfBlockedError(f"Blocked target: {host} port {port} is VFA itself")

    async def _addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return the addresses of a host, every one of them checked."""
        now = trio.current_time()
        at, known = self._answers.get(host, (0.0, ()))
        if known and now - at < REMEMBER:
            return known
        addresses = await self._resolve(host, port)
        for address in addresses:
            self._policy.check_address(address, host)
        if len(self._answers) >= MAX_REMEMBERED:
            self._answers.clear()
        self._answers[host] = (now, addresses)
        return addresses

    async def _resolve(self, host: str, port: int) -> tuple[str, ...]:
        if parse_address(host) is not None:
            return (host,)
        if is_local_name(host):
            return ("127.0.0.1", "::1")
        try:
            with trio.fail_after(RESOLVE_TIMEOUT):
                answers = tuple(await self._resolver(host, port))
        except (OSError, UnicodeError, trio.TooSlowError):
            answers = ()
        if not answers:
            raise DialError(
                Failure(
                    host,
                    port,
                    "net::ERR_NAME_NOT_RESOLVED",
                    f"the name {host} does not resolve",
                    "Check the host name; the name server does not know it.",
                )
            )
        return answers

    async def _connect(
        self, host: str, addresses: Sequence[str], port: int
    ) -> tuple[trio.SocketStream, str]:
        """Connect to one of the addresses: the first that answers."""
        won: list[tuple[trio.SocketStream, str]] = []
        errors: list[OSError] = []
        candidates = _interleaved(addresses)[:MAX_ADDRESSES]

        async def attempt(address: str, failed: trio.Event) -> None:
            try:
                stream = await _open(address, port)
            except OSError as error:
                errors.append(error)
                failed.set()
                return
            if won:
                await trio.aclose_forcefully(stream)
            else:
                won.append((stream, address))
                attempts.cancel_scope.cancel(reason="connected")

        with trio.move_on_after(CONNECT_TIMEOUT):
            async with trio.open_nursery() as attempts:
                for address in candidates:
                    failed = trio.Event()
                    attempts.start_soon(attempt, address, failed)
                    with trio.move_on_after(NEXT_ADDRESS):
                        await failed.wait()
        if won:
            return won[0]
        number = errors[-1].errno if errors else errno.ETIMEDOUT
        name = NET_ERRORS.get(number or 0, "net::ERR_CONNECTION_FAILED")
        where = f"{host} ({candidates[0]})" if candidates[0] != host else host
        raise DialError(
            Failure(host, port, name, f"{where} port {port}: {name}", address=candidates[0])
        )

    # --- through another proxy ------------------------------------------------------------

    async def _through(
        self, upstream: Upstream, host: str, port: int, *, tunnel: bool, name: str = ""
    ) -> Dialled:
        try:
            with trio.fail_after(CONNECT_TIMEOUT):
                stream = await trio.open_tcp_stream(upstream.host, upstream.port)
        except (OSError, trio.TooSlowError) as error:
            raise DialError(
                Failure(
                    name or host,
                    port,
                    "net::ERR_PROXY_CONNECTION_FAILED",
                    f"the proxy {upstream.host}:{upstream.port} cannot be reached: {error}",
                    "Check HTTP_PROXY, HTTPS_PROXY and NO_PROXY.",
                )
            ) from None
        if not tunnel:
            return Dialled(stream, "", upstream)
        try:
            with trio.fail_after(CONNECT_TIMEOUT):
                status = await _ask_for_tunnel(stream, upstream, host, port)
        except (OSError, trio.TooSlowError, trio.BrokenResourceError, ValueError) as error:
            status = str(error)
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        if status != "200":
            await trio.aclose_forcefully(stream)
            raise DialError(
                Failure(
                    name or host,
                    port,
                    "net::ERR_TUNNEL_CONNECTION_FAILED",
                    f"the proxy {upstream.host}:{upstream.port} refused a tunnel to "
                    f"{name or host}: {status}",
                    "Wrong user or password of the proxy." if status == "407" else "",
                )
            )
        return Dialled(stream, host if name else "", None)


async def _open(address: str, port: int) -> trio.SocketStream:
    family = trio.socket.AF_INET6 if ":" in address else trio.socket.AF_INET
    sock = trio.socket.socket(family, trio.socket.SOCK_STREAM)
    try:
        sock.setsockopt(trio.socket.IPPROTO_TCP, trio.socket.TCP_NODELAY, 1)
        await sock.connect((address, port))
    except BaseException:
        sock.close()
        raise
    return trio.SocketStream(sock)


async def _ask_for_tunnel(
    stream: trio.SocketStream, upstream: Upstream, host: str, port: int
) -> str:
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if upstream.authorization:
        lines.append(f"Proxy-Authorization: {upstream.authorization}")
    await stream.send_all(("\r\n".join(lines) + "\r\n\r\n").encode("ascii"))
    head = b""
    while not head.endswith(b"\r\n\r\n"):  # byte by byte: what follows is the tunnel's
        got = await stream.receive_some(1)
        head += got
        if not got or len(head) > HEAD_LIMIT:
            raise ValueError("no answer to CONNECT")
    return head.split(b" ", 2)[1].decode("ascii", "replace")


def _interleaved(addresses: Sequence[str]) -> list[str]:
    """Return addresses of both families in turn, the family of the first one first."""
    first = [each for each in addresses if (":" in each) == (":" in addresses[0])]
    second = [each for each in addresses if (":" in each) != (":" in addresses[0])]
    mixed: list[str] = []
    for index in range(max(len(first), len(second))):
        mixed += first[index : index + 1] + second[index : index + 1]
    return mixed
