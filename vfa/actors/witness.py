"""From what a page reports to entries on the error bus."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vfa.actors.error_bus import ErrorBus
    from vfa.page.network import Exchange
    from vfa.page.records import ConsoleMessage, PageException

# console levels that are worth an entry, and how bad they are
SEVERITIES = {"error": "error", "warning": "warning", "info": "info"}


class BusWitness:
    """Publishes the troubles of pages.

    Args:
        bus: Where to.
        run_id: Marks the entries of one run; empty for the session tab.
    """

    def __init__(self, bus: ErrorBus, run_id: str = "") -> None:
        self._bus = bus
        self._run_id = run_id

    def console(self, page_url: str, message: ConsoleMessage) -> None:
        """Publish warnings, errors and what the page called ``console.info`` for."""
        severity = SEVERITIES.get(message.level)
        if severity is None:
            return
        self._bus.publish(
            source="console",
            severity=severity,  # type: ignore[arg-type]  # the values of SEVERITIES
            level=message.level,
            message=message.text,
            url=page_url,
            stack=message.stack,
            timestamp=message.timestamp,
            run_id=self._run_id,
        )

    def exception(self, page_url: str, exception: PageException) -> None:
        """Publish an uncaught exception."""
        self._bus.publish(
            source="pageerror",
            severity="error",
            message=exception.message,
            url=page_url,
            stack=exception.stack,
            timestamp=exception.timestamp,
            run_id=self._run_id,
        )

    def exchange(self, page_url: str, exchange: Exchange) -> None:
        """Publish answers of 400 and above, and requests that failed."""
        status = exchange.response.status if exchange.response else None
        if exchange.cancelled or (not exchange.failure and (status or 0) < 400):
            return
        took = None if exchange.ended is None else (exchange.ended - exchange.started) * 1000
        self._bus.publish(
            source="http",
            severity="warning" if status is not None and 400 <= status < 500 else "error",
            message="",
            url=page_url,
            status_code=status or None,
            duration_ms=None if took is None else round(took),
            failure=exchange.failure,
            method=exchange.method,
            request_url=exchange.url,
            run_id=self._run_id,
        )
