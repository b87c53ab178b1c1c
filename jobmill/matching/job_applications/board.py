"""The board of applications: read its columns, move a card, undo a move."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all, fetch_value
from jobmill.errors import Conflict
from jobmill.matching import matches
from jobmill.matching.job_applications import custom_statuses
from jobmill.matching.job_applications.custom_statuses import StatusColumn
from jobmill.matching.matches import Match, MatchId, Status
from jobmill.people.persons import LOCAL, Owner

CARDS_PER_COLUMN = 25
RECENTLY_DISMISSED = 10
COUNT_LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class BoardApplication:
    """An application as the board shows it."""

    id: MatchId
    title: str | None
    company: str | None
    url: str
    location: str | None
    match_score: int | None
    """None until an imported job is scored."""
    closed_at: dt.datetime | None
    status: Status
    custom_status_id: int | None
    custom_status: str | None
    status_at: dt.datetime
    days_in_status: int
    applied_on: dt.date | None
    next_step: str | None
    next_step_on: dt.date | None
    is_due: bool

    @property
    def key(self) -> str:
        return f"custom-{self.custom_status_id}" if self.custom_status_id else self.status

    @property
    def status_name(self) -> str:
        return self.custom_status or self.status.capitalize()

    @property
    def seen(self) -> str:
        """Names the state that a page shows, so that a move of an outdated page is refused."""
        return self.status_at.isoformat()


@dataclass(frozen=True, slots=True)
class BoardColumn:
    column: StatusColumn
    count: int
    """At most `COUNT_LIMIT`."""
    applications: list[BoardApplication]


class MovedMeanwhile(Conflict):
    """Another tab or person moved the application after the page was loaded."""


async def read_board(tx: Tx, profile_id: int) -> list[BoardColumn]:
    """Read the columns with their best applications."""
    columns = await custom_statuses.read_columns(tx, profile_id)
    cards = await _find_cards(tx, profile_id, columns, CARDS_PER_COLUMN)
    counts = await _count(tx, profile_id, columns)
    return [
        BoardColumn(column, counts[column.key], [card for card in cards if card.key == column.key])
        for column in columns
    ]


async def find_all(tx: Tx, profile_id: int, *, limit: int = 10_000) -> list[BoardApplication]:
    """Read all applications by column, the best first; `limit` per column."""
    columns = await custom_statuses.read_columns(tx, profile_id)
    return await _find_cards(tx, profile_id, columns, limit)


async def find_dismissed(tx: Tx, profile_id: int) -> list[BoardApplication]:
    """Read the matches that were dismissed last."""
    return await fetch_all(
        tx,
        BoardApplication,
        """
        SELECT match.id, listing.title, listing.company, listing.url, listing.location,
               CASE WHEN scored_by <> 'import' THEN match_score END AS match_score, listing.closed_at,
               match.status, match.custom_status_id, NULL AS custom_status, match.status_at,
               extract(day FROM now() - match.status_at)::int AS days_in_status,
               NULL::date AS applied_on, NULL AS next_step, NULL::date AS next_step_on, false AS is_due
          FROM matching.match JOIN catalog.listing ON listing.id = listing_id
         WHERE profile_id = %s AND match.status = 'dismissed'
         ORDER BY match.status_at DESC, match.id DESC LIMIT %s
        """,
        [profile_id, RECENTLY_DISMISSED],
    )


async def _find_cards(
    tx: Tx, profile_id: int, columns: list[StatusColumn], limit: int
) -> list[BoardApplication]:
    return await fetch_all(
        tx,
        BoardApplication,
        """
        SELECT card.id, listing.title, listing.company, listing.url, listing.location,
               CASE WHEN scored_by <> 'import' THEN match_score END AS match_score, listing.closed_at,
               card.status, card.custom_status_id, custom.name AS custom_status, card.status_at,
               extract(day FROM now() - card.status_at)::int AS days_in_status,
               applied_on, next_step, next_step_on,
               coalesce(next_step_on <= current_date, false) AS is_due
          FROM unnest(%(statuses)s::matching.match_status[], %(custom)s::bigint[])
               WITH ORDINALITY AS shown (status, custom_status_id, place),
               LATERAL (SELECT * FROM matching.match
                         WHERE profile_id = %(profile)s AND match.status = shown.status
                           AND match.custom_status_id IS NOT DISTINCT FROM shown.custom_status_id
                           AND dropped_at IS NULL
                         ORDER BY sort_score DESC, id DESC LIMIT %(limit)s) AS card
          JOIN catalog.listing ON listing.id = card.listing_id
          LEFT JOIN matching.custom_status AS custom ON custom.id = card.custom_status_id
          LEFT JOIN matching.application ON match_id = card.id
         ORDER BY place, card.sort_score DESC, card.id DESC
        """,
        {
            "profile": profile_id,
            "statuses": [column.status for column in columns],
            "custom": [column.custom_status_id for column in columns],
            "limit": limit,
        },
    )


async def _count(tx: Tx, profile_id: int, columns: list[StatusColumn]) -> dict[str, int]:
    counted = await tx.execute(
        """
        SELECT place, counted.count
          FROM unnest(%(statuses)s::matching.match_status[], %(custom)s::bigint[])
               WITH ORDINALITY AS shown (status, custom_status_id, place),
               LATERAL (SELECT count(*)::int AS count
                          FROM (SELECT FROM matching.match
                                 WHERE profile_id = %(profile)s AND match.status = shown.status
                                   AND match.custom_status_id IS NOT DISTINCT FROM shown.custom_status_id
                                   AND dropped_at IS NULL
                                 LIMIT %(limit)s) AS application) AS counted
        """,
        {
            "profile": profile_id,
            "statuses": [column.status for column in columns],
            "custom": [column.custom_status_id for column in columns],
            "limit": COUNT_LIMIT,
        },
    )
    counts: dict[int, int] = dict(await counted.fetchall())
    return {column.key: counts[place] for place, column in enumerate(columns, 1)}


async def move(
    tx: Tx,
    match_id: int,
    key: str,
    *,
    owner: Owner = LOCAL,
    seen: str | None = None,
    actor: str | None = None,
) -> Match:
    """Move an application to the column with this key or name. MovedMeanwhile if it is no longer in
    the state that the page showed."""
    await _lock_unmoved(tx, match_id, owner, seen)
    sql = "SELECT profile_id FROM matching.match WHERE id = %s"
    profile_id = await fetch_value(tx, int, sql, [match_id]) or 0
    column = await custom_statuses.find_column(tx, profile_id, key)
    return await matches.set_status(
        tx,
        match_id,
        column.status,
        owner=owner,
        custom_status_id=column.custom_status_id,
        actor=actor,
    )


async def undo(
    tx: Tx,
    match_id: int,
    *,
    owner: Owner = LOCAL,
    seen: str | None = None,
    actor: str | None = None,
) -> Match:
    """Move an application back to where it was before; a dismissed one returns to the board.
    MovedMeanwhile if it is no longer in the state that the page showed."""
    await _lock_unmoved(tx, match_id, owner, seen)
    return (await matches.undo_status(tx, match_id, owner=owner, actor=actor))[1]


async def _lock_unmoved(tx: Tx, match_id: int, owner: Owner, seen: str | None) -> None:
    match = await matches.lock(tx, match_id, owner=owner)
    if seen is not None and seen != match.status_at.isoformat():
        raise MovedMeanwhile(
            f"{match.title or 'This application'} was moved in the meantime: its status is now"
            f" {match.status}. Nothing was changed. Look at the board and move it again."
        )
