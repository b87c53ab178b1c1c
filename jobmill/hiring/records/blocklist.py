"""Addresses and domains that applications are not accepted from."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all
from jobmill.errors import Forbidden, Invalid, NotFound


@dataclass(frozen=True, slots=True)
class BlockedAddress:
    email_key: str
    reason: str
    created_at: dt.datetime


def parse_entry(text: str) -> str:
    """Normalize an address or a domain with an @ before it; raises Invalid for anything else."""
    text = text.strip().casefold()
    local, at, domain = text.rpartition("@")
    if not at or "." not in domain or any(part.isspace() for part in text) or "@" in local:
        raise Invalid("Enter an address (ada@example.org) or a domain (@example.org).")
    return text


async def add(tx: Tx, key: str, reason: str) -> None:
    await tx.execute(
        """
        INSERT INTO hiring.blocklist (email_key, reason) VALUES (%s, %s)
        ON CONFLICT (email_key) DO UPDATE SET reason = excluded.reason
        """,
        [key, reason],
    )


async def remove(tx: Tx, key: str) -> None:
    cursor = await tx.execute("DELETE FROM hiring.blocklist WHERE email_key = %s", [key])
    if not cursor.rowcount:
        raise NotFound("Blocked address", key)


async def list_blocked(tx: Tx) -> list[BlockedAddress]:
    return await fetch_all(
        tx,
        BlockedAddress,
        "SELECT email_key, reason, created_at FROM hiring.blocklist ORDER BY email_key",
    )


class AddressBlocked(Forbidden):
    """The address is on the blocklist; applicants do not see the reason."""

    def __init__(self) -> None:
        super().__init__("Applications from this address are not accepted.")


async def find_blocked(tx: Tx, keys: Sequence[str]) -> set[str]:
    """Those of these addresses that are blocked, directly or by their domain."""
    domains = {key: "@" + key.rpartition("@")[2] for key in keys}
    cursor = await tx.execute(
        "SELECT email_key FROM hiring.blocklist WHERE email_key = ANY (%s)",
        [[*domains, *domains.values()]],
    )
    blocked = {entry async for (entry,) in cursor}
    return {key for key, domain in domains.items() if key in blocked or domain in blocked}
