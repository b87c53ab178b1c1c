"""Notes that mention the visitor, on Today and on the list of openings."""

from __future__ import annotations

from jobmill.db import Tx
from jobmill.hiring.reviews import mentions
from jobmill.hiring.reviews.mentions import UnreadMention
from jobmill.web.auth import Visitor

MAX_MENTIONS = 5


async def read_unread(tx: Tx, visitor: Visitor) -> list[UnreadMention]:
    """The oldest notes that the visitor was asked to read; none without an account or a right to change hiring."""
    if visitor.person_id is None or not visitor.may_change("hiring"):
        return []
    return await mentions.list_unread(tx, visitor.person_id, limit=MAX_MENTIONS)
