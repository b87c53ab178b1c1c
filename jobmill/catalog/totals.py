"""Totals of the catalog, at a cost that does not grow with it."""

from __future__ import annotations

from dataclasses import dataclass

from jobmill.db import Tx, fetch_single


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals above 50,000 are estimates from the statistics of PostgreSQL."""

    companies: int
    sources: int
    listings: int
    new_listings: int
    """First seen in the last 24 hours, up to 1,000."""


async def count(tx: Tx) -> Totals:
    return await fetch_single(
        tx,
        Totals,
        """
        WITH estimate AS (
            SELECT oid::regclass::text AS name, reltuples::bigint AS rows FROM pg_class
             WHERE oid IN ('catalog.company'::regclass, 'catalog.listing'::regclass)
        )
        SELECT CASE WHEN (SELECT rows FROM estimate WHERE name = 'catalog.company') > 50000
                    THEN (SELECT rows FROM estimate WHERE name = 'catalog.company')
                    ELSE (SELECT count(*) FROM (SELECT FROM catalog.company LIMIT 50000) AS counted)
               END AS companies,
               (SELECT count(*) FROM catalog.source) AS sources,
               CASE WHEN (SELECT rows FROM estimate WHERE name = 'catalog.listing') > 50000
                    THEN (SELECT rows FROM estimate WHERE name = 'catalog.listing')
                    ELSE (SELECT count(*) FROM (SELECT FROM catalog.listing LIMIT 50000) AS counted)
               END AS listings,
               (SELECT count(*) FROM (SELECT FROM catalog.listing
                                       WHERE first_seen_at > now() - interval '24 hours'
                                       LIMIT 1000) AS fresh) AS new_listings
        """,
    )
