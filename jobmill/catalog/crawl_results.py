"""Saves the result of a run of a source: new, changed, closed and reopened listings."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import Any, Literal, TypeAlias
from uuid import UUID

from jobmill.catalog.listing_pages import ListingPage
from jobmill.catalog.listings import Listing, ListingId, ListingState
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.catalog.posting import Posting
from jobmill.catalog.sources import SourceId
from jobmill.db import Tx, fetch_or_raise, fetch_single_value, fetch_value, optional_time
from jobmill.errors import NotFound
from jobmill.outside.request import Validators
from jobmill.queue import alerts

from . import (
    companies,
    company_names,
    duplicate_links,
    history,
    listing_pages,
    listings,
    posting_identity,
    source_health,
    sources,
)
from .source_health import FailureEffect

Outcome: TypeAlias = Literal[
    "complete", "unchanged", "empty", "partial", "truncated", "held", "failed"
]

EMPTY_RUNS_TO_CONFIRM = 3
"""After this many empty runs in a row, an empty board is accepted and raises an alert."""
RUN_RETENTION = dt.timedelta(days=90)
MIN_RUNS_KEPT = 50
"""The newest runs of each source are kept regardless of age."""
SILENT_SOURCE_ALERT = "source gone silent"
UNCONFIRMED_EMPTY_RUN = (
    "no postings although there were {}; not accepted yet. Has the page changed?"
)


@dataclass(frozen=True, slots=True)
class SeenPosting:
    """A posting that a run saw."""

    posting: Posting
    listed_hash: UUID
    """`listings.listed_hash` of the posting as the list showed it, before its detail page was
    read."""


@dataclass(frozen=True, slots=True)
class PageCall:
    """One request for a page of the list."""

    params: Mapping[str, Any]
    """The parameters that differ from the first request: an offset, a cursor or another URL."""
    count: int | None
    """The number of postings on the page; None if the request failed."""


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """The result of one run, before it is saved."""

    started_at: dt.datetime
    outcome: Outcome
    """The outcome according to the crawler; `save` may change `complete` to `empty`."""
    postings: Sequence[SeenPosting] = ()
    calls: int = 0
    pages: Sequence[PageCall] = ()
    """The requests for pages of the list; the other calls were for details."""
    stubs: int = 0
    """The number of unreadable records: a listing that was not seen may be one of them."""
    failure: str | None = None
    """Why the run ended early: a cause of a failed fetch, "gone" or "unreadable"."""
    detail: str | None = None
    vendor: str | None = None
    """The platform that may have the incident behind a failure; None for a company's own site."""
    inventory: bool = True
    """Whether a complete run lists everything that is open."""
    may_be_empty: bool = True
    """Whether an empty list can be true."""
    validators: Validators = field(default_factory=Validators)
    """For a conditional request the next time."""


@dataclass(frozen=True, slots=True)
class RunCounts:
    seen: int = 0
    added: int = 0
    changed: int = 0
    closed: int = 0
    reopened: int = 0
    duplicates: int = 0


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A saved run."""

    run_id: int | None
    """None if this or a newer run was saved before; then this one is ignored."""
    outcome: Outcome
    counts: RunCounts
    failure_effect: FailureEffect
    added: tuple[ListingId, ...] = ()
    changed: tuple[ListingId, ...] = ()
    """Reopened, or changed in a field that rules judge by."""


@dataclass(frozen=True, slots=True)
class _Source:
    id: SourceId
    name: str
    company_id: int | None
    company_name: str | None
    relation: Literal["own", "group"]
    allow_empty: bool
    empty_runs: int
    last_run_started_at: dt.datetime | None
    open_listings: int
    saved_already: bool


async def save(tx: Tx, source_id: int, result: CrawlResult, platforms: PlatformRules) -> SavedRun:
    """Save a run. Only a complete run closes the listings that it did not see."""
    if result.failure and result.vendor:
        await source_health.lock_platform(tx, result.vendor)
    source = await _lock(tx, source_id, result.started_at)
    if source.saved_already or _is_overtaken(source, result):
        return SavedRun(None, result.outcome, RunCounts(), FailureEffect(counted=False))
    outcome = _confirm_outcome(source, result)
    added, changed, counts = await _save_postings(tx, source, result, platforms)
    if outcome == "unchanged":
        await _mark_all_seen(tx, source.id, result.started_at)
    if outcome == "complete" and result.inventory:
        since = await _find_close_cutoff(tx, source.id, result)
        closed = await _close_unseen(tx, source.id, result.started_at, since)
        counts = replace(counts, closed=closed)
    run_id = await _write_run(tx, source, result, outcome, counts)
    effect = await _update_health(tx, source, result, outcome, run_id)
    await _update_silence_alert(tx, source, result)
    await _link_company(tx, source, result, platforms)
    return SavedRun(run_id, outcome, counts, effect, added, changed)


async def _link_company(
    tx: Tx, source: _Source, result: CrawlResult, platforms: PlatformRules
) -> None:
    """Link a board without a company to the company that all its postings name."""
    if source.company_id is not None or source.relation != "own" or not result.inventory:
        return
    postings = [listings.make_storable(seen.posting) for seen in result.postings]
    names = {company_names.company_key(posting.company) for posting in postings}
    republished = any(
        platforms.ids(posting.platform).aggregator or posting.via for posting in postings
    )
    if republished or len(names) != 1 or names == {""}:
        return
    name = postings[0].company or ""
    company_ids = await companies.get_or_create_all(tx, [name])
    if name in company_ids:
        await sources.link_company(tx, source.id, company_ids[name], name)


def _is_overtaken(source: _Source, result: CrawlResult) -> bool:
    newest = source.last_run_started_at
    return newest is not None and result.started_at <= newest


async def _lock(tx: Tx, id: int, started_at: dt.datetime) -> _Source:
    """Lock the source and return its state."""
    # Lock first, then read: a count in the locking statement could be older than the lock.
    await tx.execute("SELECT 1 FROM catalog.source WHERE id = %s FOR UPDATE", [id])
    return await fetch_or_raise(
        tx,
        _Source,
        """
        SELECT id, name, company_id, company_name, relation, allow_empty, empty_runs,
               last_run_started_at,
               (SELECT count(*)::int FROM catalog.listing
                 WHERE source_id = source.id AND closed_at IS NULL) AS open_listings,
               EXISTS (SELECT 1 FROM catalog.run
                        WHERE source_id = source.id
                          AND started_at = %(started_at)s) AS saved_already
          FROM catalog.source WHERE id = %(id)s
        """,
        {"id": id, "started_at": started_at},
        NotFound("source", id),
    )


def _confirm_outcome(source: _Source, result: CrawlResult) -> Outcome:
    """The outcome, but `empty` for a board that is suddenly empty: many sites return an empty list
    on errors."""
    if not _is_suddenly_empty(source, result):
        return result.outcome
    repeated = source.empty_runs + 1 >= EMPTY_RUNS_TO_CONFIRM
    # Unreadable records are postings, so the board is not empty.
    plausible = result.may_be_empty and not result.stubs
    return "complete" if repeated and plausible else "empty"


def _is_suddenly_empty(source: _Source, result: CrawlResult) -> bool:
    """Whether the run saw no postings although there are open listings."""
    is_empty = result.outcome == "complete" and result.inventory and not result.postings
    return is_empty and source.open_listings > 0 and not source.allow_empty


async def _save_postings(
    tx: Tx, source: _Source, result: CrawlResult, platforms: PlatformRules
) -> tuple[tuple[ListingId, ...], tuple[ListingId, ...], RunCounts]:
    """Insert new listings, update changed ones, and mark the others as seen."""
    clean = [
        replace(seen_posting, posting=listings.make_storable(seen_posting.posting))
        for seen_posting in result.postings
    ]
    by_identity = {
        posting_identity.identity(seen_posting.posting, platforms): seen_posting
        for seen_posting in clean
    }
    existing = await listings.find_by_identity(tx, list(by_identity))
    # All runs write in this order (companies, new listings, links, existing listings), so that
    # two of them cannot deadlock. Two groups of saves can, because each takes the locks of its runs
    # one after another (`queue.group_commit`): the saves are then repeated one by one.
    company_ids = await _find_companies(tx, source, by_identity, existing)
    to_row = partial(_to_row, source, company_ids, platforms)
    new = {key: seen_posting for key, seen_posting in by_identity.items() if key not in existing}
    added = await _insert_new(tx, source, new, to_row, result.started_at)
    linked = await duplicate_links.link_new_listings(tx, list(added.values()), platforms)
    editable = await listings.claim_for_update(tx, list(existing), source.id)
    changed, outdated = await _update_changed(tx, by_identity, editable, to_row, result.started_at)
    changed_ids = [
        id for id, fields_changed in changed if fields_changed.keys() - listings.FIELDS_NOT_JUDGED
    ]
    reopened = await _mark_seen(tx, source.id, list(editable.values()), result.started_at)
    counts = RunCounts(
        seen=len(by_identity),
        added=len(added),
        changed=len(changed),
        reopened=len(reopened),
        duplicates=linked,
    )
    return tuple(added.values()), tuple({*changed_ids, *outdated, *reopened}), counts


async def _find_companies(
    tx: Tx,
    source: _Source,
    by_identity: Mapping[str, SeenPosting],
    existing: Mapping[str, ListingState],
) -> Mapping[str, companies.CompanyId]:
    """The ids of the companies that new or changed postings name, by name."""
    new = [
        seen_posting
        for key, seen_posting in by_identity.items()
        if key not in existing or _may_differ(seen_posting, existing[key])
    ]
    names = (
        _company_name(source, seen_posting.posting)
        for seen_posting in new
        if not _is_own_company(seen_posting.posting, source)
    )
    return await companies.get_or_create_all(tx, [name for name in names if name])


async def _insert_new(
    tx: Tx,
    source: _Source,
    new: Mapping[str, SeenPosting],
    to_row: Callable[[str, SeenPosting], dict[str, Any]],
    at: dt.datetime,
) -> dict[str, ListingId]:
    if not new:
        return {}
    times = {"source_id": source.id, "first_seen_at": at, "last_seen_at": at, "changed_at": at}
    rows = await _compute_rows(to_row, new.items())
    added = await listings.insert_all(tx, [row | times for row in rows])
    await history.record_all(
        tx, "listing", "opened", [(id, {"source": source.id}) for id in added.values()]
    )
    return added


async def _update_changed(
    tx: Tx,
    by_identity: Mapping[str, SeenPosting],
    editable: Mapping[str, ListingState],
    to_row: Callable[[str, SeenPosting], dict[str, Any]],
    at: dt.datetime,
) -> tuple[list[tuple[ListingId, dict[str, Any]]], list[ListingId]]:
    """Update changed listings and record the old values in their history; returns the changes, and
    the listings whose own page was read before their source changed them."""
    to_compare = {
        state.id: key for key, state in editable.items() if _may_differ(by_identity[key], state)
    }
    rows: list[dict[str, Any]] = []
    changed: list[tuple[ListingId, dict[str, Any]]] = []
    pages = await listing_pages.find(tx, list(to_compare))
    stored = await listings.by_ids(tx, list(to_compare))
    current = [
        (key, _with_stored(by_identity[key], listing, pages.get(listing.id)))
        for listing in stored
        for key in [to_compare[listing.id]]
    ]
    for listing, row in zip(stored, await _compute_rows(to_row, current), strict=True):
        differences = listings.diff(listing, row)
        rows.append(
            row | {"id": listing.id, "changed_at": at if differences else listing.changed_at}
        )
        if differences:
            changed.append((listing.id, _to_json(differences)))
    await listings.update_all(tx, rows)
    await history.record_all(tx, "listing", "changed", changed)
    return changed, list(pages)


async def _compute_rows(
    to_row: Callable[[str, SeenPosting], dict[str, Any]],
    postings: Iterable[tuple[str, SeenPosting]],
) -> list[dict[str, Any]]:
    """The rows of postings, in a thread: the fingerprints of a large board take seconds."""
    return await asyncio.to_thread(lambda: [to_row(key, posting) for key, posting in postings])


def _may_differ(seen_posting: SeenPosting, state: ListingState) -> bool:
    return seen_posting.listed_hash != state.listed_hash or (
        state.partial and not seen_posting.posting.partial
    )


def _with_stored(
    seen_posting: SeenPosting, listing: Listing, page: ListingPage | None
) -> SeenPosting:
    """Keep what the listing's own page said until the page is read again."""
    if page is None or not page.fields:
        return _with_detail(seen_posting, listing)
    stored = listings.to_posting(listing)
    from_page = {name: getattr(stored, name) for name in page.fields}
    posting = replace(seen_posting.posting, **from_page, partial=stored.partial)
    return replace(seen_posting, posting=posting)


def _with_detail(seen_posting: SeenPosting, listing: Listing) -> SeenPosting:
    """Fill in fields that a list leaves out from the stored detail."""
    if not seen_posting.posting.partial:
        return seen_posting
    stored = listings.to_posting(listing)
    missing = [
        field.name
        for field in fields(stored)
        if getattr(seen_posting.posting, field.name) in (None, (), "")
    ]
    stored_values = {name: getattr(stored, name) for name in missing}
    posting = replace(seen_posting.posting, **stored_values, partial=stored.partial)
    # The stored detail belongs to an older list entry: let the next run read it again.
    return SeenPosting(posting, seen_posting.listed_hash if stored.partial else listing.listed_hash)


def _to_json(changes: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        return value.isoformat() if isinstance(value, dt.datetime) else value

    return {name: [plain(before), plain(after)] for name, (before, after) in changes.items()}


def _to_row(
    source: _Source,
    company_ids: Mapping[str, companies.CompanyId],
    platforms: PlatformRules,
    key: str,
    seen_posting: SeenPosting,
) -> dict[str, Any]:
    """A posting as a row of the table; `key` is its identity before a company is filled in."""
    posting = replace(seen_posting.posting, company=_company_name(source, seen_posting.posting))
    is_own = _is_own_company(posting, source)
    company_id = source.company_id if is_own else company_ids.get(posting.company or "")
    columns = {"identity": key, "listed_hash": seen_posting.listed_hash, "company_id": company_id}
    return listings.to_columns(posting, platforms) | columns


def _company_name(source: _Source, posting: Posting) -> str | None:
    return posting.company or source.company_name


def _is_own_company(posting: Posting, source: _Source) -> bool:
    """Whether the posting is of the source's own company; boards often spell its name differently."""
    alone = source.company_id is not None and source.relation == "own"
    return alone and not posting.via


async def _mark_seen(
    tx: Tx, source_id: SourceId, states: Sequence[ListingState], at: dt.datetime
) -> list[ListingId]:
    """Mark listings as seen and reopen the closed ones; returns the reopened ones."""
    await tx.execute(
        """
        UPDATE catalog.listing
           SET last_seen_at = greatest(last_seen_at, %(at)s), source_id = %(source)s,
               private = false
         WHERE id = ANY(%(ids)s)
        """,
        {"ids": [state.id for state in states], "at": at, "source": source_id},
    )
    closed = [state.id for state in states if state.closed]
    # A feed may show a job for weeks after its page says that it is closed.
    closed_by_page = await listing_pages.find_closed(tx, closed)
    reopened = [id for id in closed if id not in closed_by_page]
    if reopened:
        await tx.execute(
            "UPDATE catalog.listing SET closed_at = NULL, changed_at = %s WHERE id = ANY(%s)",
            [at, reopened],
        )
        await history.record_all(tx, "listing", "reopened", [(id, {}) for id in reopened])
    return reopened


async def _mark_all_seen(tx: Tx, source_id: SourceId, at: dt.datetime) -> None:
    await tx.execute(
        """
        UPDATE catalog.listing SET last_seen_at = %(at)s
         WHERE source_id = %(source)s AND closed_at IS NULL
        """,
        {"source": source_id, "at": at},
    )


async def _find_close_cutoff(tx: Tx, source_id: SourceId, result: CrawlResult) -> dt.datetime:
    """The time since which a listing must have been seen to stay open: the start of this run, or
    of the previous complete run if this one had unreadable records."""
    if not result.stubs:
        return result.started_at
    before = await fetch_value(
        tx,
        optional_time,
        """
        SELECT max(started_at) FROM catalog.run
         WHERE source_id = %s AND outcome = 'complete'
        """,
        [source_id],
    )
    return before or dt.datetime.min.replace(tzinfo=dt.UTC)


async def _close_unseen(
    tx: Tx, source_id: SourceId, started_at: dt.datetime, since: dt.datetime
) -> int:
    """Close open listings that were last seen before `since`."""
    cursor = await tx.execute(
        """
        UPDATE catalog.listing SET closed_at = %(at)s, changed_at = %(at)s
         WHERE source_id = %(source)s AND closed_at IS NULL AND last_seen_at < %(since)s
        RETURNING id
        """,
        {"source": source_id, "at": started_at, "since": since},
    )
    closed = [id for (id,) in await cursor.fetchall()]
    await history.record_all(tx, "listing", "closed", [(id, {"why": "not seen"}) for id in closed])
    return len(closed)


async def _write_run(
    tx: Tx, source: _Source, result: CrawlResult, outcome: Outcome, counts: RunCounts
) -> int:
    run_id = await fetch_single_value(
        tx,
        int,
        """
        INSERT INTO catalog.run
               (source_id, vendor, started_at, outcome, cause, detail, calls, seen, added, changed,
                closed, reopened, duplicates)
        VALUES (%(source)s, %(vendor)s, %(started_at)s, %(outcome)s, %(cause)s, %(detail)s,
                %(calls)s, %(seen)s, %(added)s, %(changed)s, %(closed)s, %(reopened)s,
                %(duplicates)s)
        RETURNING id
        """,
        {
            "source": source.id,
            "vendor": result.vendor,
            "started_at": result.started_at,
            "outcome": outcome,
            "cause": source_health.classify_failure(result.failure) if result.failure else None,
            "detail": result.detail,
            "calls": result.calls,
            **asdict(counts),
        },
    )
    await tx.execute(
        """
        UPDATE catalog.source
           SET last_scraped_at = now(), last_scraped_status = %(outcome)s,
               -- A run without result must not make an older one count as overtaken.
               last_run_started_at = CASE WHEN %(outcome)s IN ('failed', 'held')
                                          THEN last_run_started_at ELSE %(started_at)s END,
               empty_runs = CASE %(outcome)s WHEN 'empty' THEN empty_runs + 1
                                             WHEN 'complete' THEN 0 WHEN 'unchanged' THEN 0
                                             ELSE empty_runs END,
               -- Validators describe what was saved, so only a complete run stores them.
               etag = CASE WHEN %(outcome)s = 'complete' THEN %(etag)s ELSE etag END,
               last_modified = CASE WHEN %(outcome)s = 'complete' THEN %(last_modified)s
                                    ELSE last_modified END,
               validators_url = CASE WHEN %(outcome)s = 'complete' THEN %(validators_url)s
                                     ELSE validators_url END
         WHERE id = %(id)s
        """,
        {
            "id": source.id,
            "outcome": outcome,
            "started_at": result.started_at,
            "etag": result.validators.etag,
            "last_modified": result.validators.last_modified,
            "validators_url": result.validators.url,
        },
    )
    return run_id


async def _update_health(
    tx: Tx, source: _Source, result: CrawlResult, outcome: Outcome, run_id: int
) -> FailureEffect:
    """Update the health of the source."""
    if outcome == "empty":
        await source_health.record_problem(
            tx, source.id, "empty", UNCONFIRMED_EMPTY_RUN.format(source.open_listings)
        )
    elif not result.failure:
        await source_health.record_success(tx, source.id, result.vendor)
    if not result.failure:
        return FailureEffect(counted=False)
    cause = source_health.classify_failure(result.failure)
    effect = await source_health.record_failure(
        tx, source.id, result.vendor, cause, result.detail or result.failure
    )
    await tx.execute(
        "UPDATE catalog.run SET counts_as_failure = %s WHERE id = %s", [effect.counted, run_id]
    )
    return effect


async def _update_silence_alert(tx: Tx, source: _Source, result: CrawlResult) -> None:
    """Raise an alert when a source with postings has shown none for several runs; lift it when it
    shows some."""
    if result.postings:
        await alerts.resolve_alert(tx, SILENT_SOURCE_ALERT, f"source {source.id}")
    elif _is_suddenly_empty(source, result) and source.empty_runs + 1 >= EMPTY_RUNS_TO_CONFIRM:
        words = (
            f"{source.name} had {source.open_listings} open jobs, and its last "
            f"{source.empty_runs + 1} runs found none. Has it moved?"
        )
        await alerts.raise_alert(tx, SILENT_SOURCE_ALERT, f"source {source.id}", words)


async def prune(tx: Tx, *, limit: int = 1_000) -> int:
    """Delete up to `limit` old runs; the newest runs of each source stay."""
    cursor = await tx.execute(
        """
        DELETE FROM catalog.run
         WHERE id = ANY (ARRAY(
            SELECT older.id
              FROM catalog.source
             CROSS JOIN LATERAL (SELECT id, ended_at FROM catalog.run
                                  WHERE source_id = source.id
                                  ORDER BY id DESC OFFSET %(min_kept)s) AS older
             WHERE older.ended_at < now() - %(keep)s
             LIMIT %(limit)s))
        """,
        {"min_kept": MIN_RUNS_KEPT, "keep": RUN_RETENTION, "limit": limit},
    )
    return cursor.rowcount
