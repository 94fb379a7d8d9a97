"""Opening ways out: what every listener of an engine has in common."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from vfa.egress.hosts import read_hosts
from vfa.egress.listener import open_listener
from vfa.egress.upstream import read_upstreams
from vfa.policy.network import Policy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import trio

    from vfa.config import Config
    from vfa.egress.listener import Listener


def check_settings(config: Config) -> None:
    """Read all that says what may be reached, and how, to find mistakes at the start.

    Raises:
        ConfigError: Something cannot be used; the message names the setting.
    """
    Policy.for_browser(config)
    read_hosts(config.hosts)
    read_upstreams(os.environ)


class Exits:
    """Opens listeners.

    Args:
        config: The settings.
        background: Where their connections are served, as long as their block lasts.

    Raises:
        ConfigError: A proxy of the environment, or VFA_HOSTS, cannot be used.
    """

    def __init__(self, config: Config, background: trio.Nursery) -> None:
        self._upstreams = read_upstreams(os.environ)
        self._resolver = read_hosts(config.hosts)
        self._upstream_resolves = config.proxy_dns == "upstream"
        self._background = background

    @asynccontextmanager
    async def open(self, policy: Policy) -> AsyncIterator[Listener]:
        """Open a way out for the length of the block, to what ``policy`` allows."""
        async with open_listener(
            policy,
            self._upstreams,
            self._background,
            upstream_resolves=self._upstream_resolves,
            resolver=self._resolver,
        ) as listener:
            yield listener
