"""The postings that the catalog knows of a company. Provisional."""

from __future__ import annotations

from dataclasses import dataclass

from jobmill.db import Tx


@dataclass(frozen=True, slots=True)
class KnownPosting:
    url: str


async def read_known_postings(tx: Tx, company_id: int) -> list[KnownPosting]:
    return []
