"""Sends messages with the library Apprise, which makes its own requests past the address guard."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from typing import Any

from jobmill.errors import Invalid, ReplyLost, Unavailable

MISSING = "Apprise is not installed: pip install 'jobmill[apprise]'"


class AppriseServices:
    def __init__(self, make_client: Callable[[], Any]) -> None:
        """`make_client`: the class `apprise.Apprise`."""
        self._make_client = make_client

    async def send(self, url: str, title: str, body: str) -> str:
        """Send a message; ReplyLost on any failure, because the library does not tell whether the
        message arrived. Invalid if no service has this URL."""
        client = self._make_client()
        if not client.add(url):
            raise Invalid(
                "No service of Apprise has this URL. Remove the channel and add it again."
            )
        if not await asyncio.to_thread(client.notify, title=title, body=body):
            raise ReplyLost("Apprise reports a failure")
        return "accepted by Apprise"

    def check_url(self, url: str) -> None:
        if not self._make_client().add(url):
            raise Invalid(
                "Apprise does not know this URL. Enter one such as matrix://user:password@host/room."
            )


def load_apprise() -> AppriseServices:
    """Load the library; Unavailable if the extra is not installed."""
    try:
        return AppriseServices(importlib.import_module("apprise").Apprise)
    except ImportError as error:
        raise Unavailable(MISSING) from error
