"""Apprise, an optional extra, by a client with the methods of the library."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from jobmill.errors import Invalid, ReplyLost
from jobmill.outside.apprise_services import AppriseServices


@dataclass
class Client:
    """Knows the services `ok://` and `down://`."""

    sent: list[tuple[str, str]]
    urls: list[str] = field(default_factory=list)

    def add(self, url: str) -> bool:
        self.urls.append(url)
        return url.startswith(("ok://", "down://"))

    def notify(self, *, title: str, body: str) -> bool:
        self.sent.append((title, body))
        return self.urls == ["ok://"]


async def test_a_message_is_sent_and_a_failure_says_that_it_may_have_arrived() -> None:
    sent: list[tuple[str, str]] = []
    services = AppriseServices(lambda: Client(sent))
    services.check_url("ok://")
    assert await services.send("ok://", "Alert", "12 items") == "accepted by Apprise"
    with pytest.raises(ReplyLost):
        await services.send("down://", "Alert", "12 items")
    assert sent == [("Alert", "12 items")] * 2
    with pytest.raises(Invalid):
        services.check_url("unheard-of://")
    with pytest.raises(Invalid):
        await services.send("unheard-of://", "Alert", "12 items")
    assert len(sent) == 2
