"""Runs one source: as a test that keeps nothing, or for its harvest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobmill.catalog import listings, posting_json, source_health, sources
from jobmill.catalog.listings import ListingState
from jobmill.catalog.posting import Posting
from jobmill.catalog.source_runs import CrawlResult
from jobmill.catalog.sources import Source
from jobmill.db.clock import server_time
from jobmill.errors import Conflict, Unavailable
from jobmill.outside.request import Fetch, Validators
from jobmill.tools import Tools

from . import api_keys, board_crawler, response_reader, saved_responses
from .board_crawler import Target, Tell
from .platform import Platform

SAMPLE = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """What a test saw."""

    ok: bool
    postings: tuple[Posting, ...]
    seen: int
    total: int | None
    cause: str | None
    detail: str | None

    @property
    def words(self) -> str:
        """For people: how it went."""
        if not self.ok:
            return f"It does not work ({self.cause}): {(self.detail or '').rstrip('.')}."
        if not self.seen:
            return "It answers, but shows no posting. Is that so, or does the config not fit?"
        of = f" of {self.total}" if self.total is not None else ""
        return f"It works: {self.seen}{of} postings on the first page."

    def record(self) -> dict[str, Any]:
        """For programs."""
        return {
            "ok": self.ok,
            "seen": self.seen,
            "total": self.total,
            "cause": self.cause,
            "detail": self.detail,
            "sample": [posting_json.to_record(one) for one in self.postings],
        }


def target(source: Source, environ: Mapping[str, str]) -> Target:
    """The source, ready to be asked; an error says what is missing."""
    platform = saved_responses.platform(source.source_type)
    config = response_reader.configure(platform, source.config)
    check(platform, environ, api_keys.missing(platform, config, environ))
    validators = Validators(source.etag, source.last_modified, source.validators_url)
    return Target(platform, config, environ, validators)


def check(platform: Platform, environ: Mapping[str, str], unset: Sequence[str]) -> None:
    """Refuse what is off, not readable, or has no key."""
    if platform.off:
        raise Conflict(f"{platform.title} is off: {platform.off}")
    if platform.first is None:
        raise Conflict(f"{platform.title} is recognised but cannot be read yet")
    if unset:
        raise Unavailable(f"{platform.title} needs a key: set {', '.join(unset)}")


async def sample(fetch: Fetch, target: Target) -> Sample:
    """The first page of a source, and one posting in full."""
    seen = await board_crawler.look(fetch, target)
    ok = seen.failure is None
    first = tuple(seen.postings.values())[:SAMPLE]
    if ok and first:
        first = (await board_crawler.whole(fetch, target, first[0]), *first[1:])
    return Sample(ok, first, len(seen.postings), seen.total, seen.failure, seen.detail)


async def test(tools: Tools, id: int, environ: Mapping[str, str]) -> Sample:
    """Try a source; that it worked is kept, what it showed is not."""
    async with tools.db.transaction() as tx:
        source = await sources.get(tx, id)
    found = await sample(tools.fetch, target(source, environ))
    if found.ok:
        async with tools.db.transaction() as tx:
            await sources.mark_tested(tx, id)
    return found


async def run(
    tools: Tools, id: int, environ: Mapping[str, str], *, tell: Tell = lambda _: None
) -> CrawlResult:
    """Walk a source to its end; `catalog.runs.save` keeps what it saw."""
    async with tools.db.transaction() as tx:
        source = await sources.get(tx, id)
        if source.status == "rejected":
            raise Conflict(f"source {id} ({source.name}) is rejected: enable it first")
        started_at = await server_time(tx)
        chosen = target(source, environ)
        until = await source_health.check_hold(tx, chosen.vendor)
    if until:
        detail = f"{chosen.platform.title} is in trouble: held until {until:%Y-%m-%d %H:%M} UTC"
        return CrawlResult(started_at, "held", failure="rate_limited", detail=detail)

    async def remember(identities: Sequence[str]) -> Mapping[str, ListingState]:
        async with tools.db.transaction() as tx:
            return await listings.find_by_identity(tx, identities)

    return await board_crawler.harvest(
        tools.fetch, chosen, remember, started_at=started_at, tell=tell
    )
