"""The gate before audits and flows: open, unless the operator demands a licence."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from vfa.policy.seats import REFRESH, installation_id, state_folder, take_seat

if TYPE_CHECKING:
    from vfa.config import Config


class Gate:
    """Checks the licence of one engine."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._noted = -float("inf")  # when the seat was last noted
        self._lock = trio.Lock()

    async def check(self, feature: str) -> None:
        """Let a call through, or raise ``LicenseError`` with the reason.

        Args:
            feature: "audit" or "flow".
        """
        if not self._config.license_public_key:
            return
        async with (
            self._lock
        ):  # side by side, the first calls would take the seat several times
            await trio.to_thread.run_sync(self._check, feature)

    def _check(self, feature: str) -> None:
        from vfa.policy.license import check_licence, read_public_key

        key = read_public_key(self._config.license_public_key)
        licence = check_licence(self._config.license_key, key)
        licence.check_feature(feature)
        if time.monotonic() - self._noted < REFRESH:
            return
        take_seat(registry_of(self._config), licence, installation_id(state_folder()))
        self._noted = time.monotonic()


def registry_of(config: Config) -> Path:
    """Return the file of the seats."""
    if config.license_registry:
        return Path(config.license_registry)
    return state_folder() / "seats.json"
