"""Telling Chromium the password of its proxy, once for a browser context.

Chromium asks for it when the proxy first answers 407, and sends it unasked with every later
request and tunnel of the context: workers' and sockets' too, which no CDP session could answer
for. So the first request is one of ours, to a name that only the proxy knows and answers with
204: the tab stays as it is.

Source: CDP ``Fetch.authRequired``, ``Fetch.continueWithAuth``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from vfa.egress.listener import GREETING, USER

if TYPE_CHECKING:
    from vfa.cdp.dialogue import Event
    from vfa.cdp.session import Session


class _Paused(msgspec.Struct, frozen=True, rename="camel"):
    request_id: str


async def give_password(session: Session, password: str) -> None:
    """Have the browser context of a tab learn the password of its proxy.

    Args:
        session: A tab that is blank and that nobody else uses yet.
        password: Of the run's listener.
    """

    def hear(event: Event) -> None:
        if event.method == "Fetch.requestPaused":
            paused = msgspec.json.decode(event.params, type=_Paused)
            session.post("Fetch.continueRequest", {"requestId": paused.request_id})
        elif event.method == "Fetch.authRequired":
            asked = msgspec.json.decode(event.params, type=_Paused)
            answer = {"response": "ProvideCredentials", "username": USER, "password": password}
            session.post(
                "Fetch.continueWithAuth",
                {"requestId": asked.request_id, "authChallengeResponse": answer},
            )

    stop = session.listen(hear)
    try:
        session.post(
            "Fetch.enable",
            {"handleAuthRequests": True, "patterns": [{"urlPattern": f"{GREETING}*"}]},
        )
        await session.call("Page.navigate", {"url": GREETING})
    finally:
        stop()
        session.post("Fetch.disable")
