"""How many channels a person can have."""

from __future__ import annotations

import pytest

from jobmill.db import Tx
from jobmill.errors import Conflict
from jobmill.notifications import channels
from jobmill.people.persons import LOCAL
from tests.notifications.helpers import add_channel


async def test_a_channel_that_exists_is_switched_on_at_the_limit(tx: Tx) -> None:
    first, *_ = [
        await add_channel(tx, address=f"{number}@example.org")
        for number in range(channels.MAX_CHANNELS)
    ]
    await tx.execute("UPDATE notification.channel SET enabled = false")
    again = await add_channel(tx, address="0@example.org")
    assert (again.id, again.enabled) == (first.id, True)
    with pytest.raises(Conflict, match="at most"):
        async with tx.transaction():
            await add_channel(tx, address="another@example.org")
    assert len(await channels.find_by_owner(tx, LOCAL)) == channels.MAX_CHANNELS
