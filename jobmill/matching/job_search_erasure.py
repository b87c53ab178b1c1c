"""Erase the job search of a person: everything that belongs to their profiles."""

from __future__ import annotations

from jobmill.db import Tx
from jobmill.matching import company_tiers, profiles
from jobmill.people.persons import Owner


async def erase_search(tx: Tx, owner: Owner) -> int:
    """Delete the profiles of an owner with their matches, views and added jobs, and return how many
    profiles there were. A trigger records each in the log of changes. Erasing twice has no effect."""
    # Judging locks the profile's row through its foreign keys: what is under way commits first.
    await tx.execute(
        "SELECT FROM matching.profile WHERE owner_id IS NOT DISTINCT FROM %s::bigint FOR UPDATE",
        [owner],
    )
    ids = [summary.profile_id for summary in await profiles.find_all(tx, owner=owner)]
    await tx.execute(
        "DELETE FROM catalog.submission WHERE owner_id IS NOT DISTINCT FROM %s::bigint", [owner]
    )
    await tx.execute("DELETE FROM matching.judging_queue WHERE profile_id = ANY(%s)", [ids])
    await tx.execute("DELETE FROM matching.match WHERE profile_id = ANY(%s)", [ids])
    await tx.execute("DELETE FROM matching.verdict WHERE profile_id = ANY(%s)", [ids])
    await tx.execute(
        """
        DELETE FROM notification.event
         WHERE person_id IS NOT DISTINCT FROM %s::bigint AND data ? 'match'
        """,
        [owner],
    )
    # Jobs that only this person had imported.
    await tx.execute(
        """
        DELETE FROM catalog.listing
         WHERE private AND NOT EXISTS (SELECT FROM matching.match WHERE listing_id = listing.id)
           AND NOT EXISTS (SELECT FROM matching.verdict WHERE listing_id = listing.id)
        """
    )
    await tx.execute("DELETE FROM matching.default_profile WHERE profile_id = ANY(%s)", [ids])
    await tx.execute("DELETE FROM matching.profile_version WHERE profile_id = ANY(%s)", [ids])
    await tx.execute("DELETE FROM matching.profile WHERE id = ANY(%s)", [ids])
    if ids:
        await company_tiers.rescore_companies(tx, await profiles.read_defaults(tx))
    return len(ids)
