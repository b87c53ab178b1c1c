"""Tags of applications: short free words, the same for all openings."""

from __future__ import annotations

from collections.abc import Collection

from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.hiring.actor import Actor
from jobmill.hiring.reviews.reviewed_applications import lock_for_review

MAX_TAG_LENGTH = 40
MAX_TAGS = 20
"""Tags of one application."""
MAX_SUGGESTIONS = 100


def normalize_tag(text: str) -> str:
    """The tag in lower case with single spaces; raises Invalid."""
    tag = " ".join(text.split()).lower()
    if not 0 < len(tag) <= MAX_TAG_LENGTH or not tag.isprintable():
        raise Invalid(f"A tag has 1 to {MAX_TAG_LENGTH} characters.")
    return tag


async def add_tag(tx: Tx, application_id: int, text: str, by: Actor) -> None:
    """Tag an application; a tag that it has already changes nothing."""
    tag = normalize_tag(text)
    await lock_for_review(tx, application_id)
    tags = (await list_tags(tx, [application_id])).get(application_id, [])
    if len(tags) >= MAX_TAGS and tag not in tags:
        raise Invalid(f"An application can have at most {MAX_TAGS} tags. Remove one first.")
    await tx.execute(
        """
        INSERT INTO hiring.tag (application_id, tag, added_by) VALUES (%s, %s, %s)
        ON CONFLICT DO NOTHING
        """,
        [application_id, tag, by.name],
    )


async def remove_tag(tx: Tx, application_id: int, text: str) -> None:
    """Remove a tag; one that is not there changes nothing."""
    await lock_for_review(tx, application_id)
    await tx.execute(
        "DELETE FROM hiring.tag WHERE application_id = %s AND tag = %s",
        [application_id, normalize_tag(text)],
    )


async def list_tags(tx: Tx, application_ids: Collection[int]) -> dict[int, list[str]]:
    """The tags by application id, without applications that have none."""
    cursor = await tx.execute(
        """
        SELECT application_id, array_agg(tag ORDER BY tag) FROM hiring.tag
         WHERE application_id = ANY (%s)
         GROUP BY application_id
        """,
        [list(application_ids)],
    )
    return {id: tags async for id, tags in cursor}


async def suggest_tags(tx: Tx) -> list[str]:
    """The tags in use, the most frequent first."""
    cursor = await tx.execute(
        "SELECT tag FROM hiring.tag GROUP BY tag ORDER BY count(*) DESC, tag LIMIT %s",
        [MAX_SUGGESTIONS],
    )
    return [tag for (tag,) in await cursor.fetchall()]
