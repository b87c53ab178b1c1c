"""Reads one source: its first page as a test, or the whole source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobmill.catalog import listings, posting_json, source_health, sources
from jobmill.catalog.crawl_results import CrawlResult
from jobmill.catalog.listings import ListingState
from jobmill.catalog.posting import Posting
from jobmill.db.clock import server_time
from jobmill.errors import Conflict
from jobmill.outside.request import Fetch
from jobmill.tools import Tools

from . import board_crawler
from .board_crawler import ReportProgress
from .readable_board import ReadableBoard, board_of_source

SAMPLE_SIZE = 5


@dataclass(frozen=True, slots=True)
class BoardSample:
    """The result of a test: some postings of the first page, or the cause of a failure."""

    ok: bool
    postings: tuple[Posting, ...]
    first_page_count: int
    """The number of postings on the first page."""
    total: int | None
    cause: str | None
    detail: str | None

    @property
    def summary(self) -> str:
        """The result in a sentence."""
        if not self.ok:
            return f"It does not work ({self.cause}): {(self.detail or '').rstrip('.')}."
        if not self.first_page_count:
            return "It answers, but shows no postings. If you expect some, check the config."
        of = f" of {self.total}" if self.total is not None else ""
        return f"It works: {self.first_page_count}{of} postings on the first page."

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "seen": self.first_page_count,
            "total": self.total,
            "cause": self.cause,
            "detail": self.detail,
            "sample": [posting_json.to_record(posting) for posting in self.postings],
        }


async def sample_board(fetch: Fetch, board: ReadableBoard) -> BoardSample:
    """The first page of a board, with the full text of the first posting."""
    crawled = await board_crawler.crawl_first_page(fetch, board)
    ok = crawled.failure is None
    postings = tuple(crawled.postings.values())[:SAMPLE_SIZE]
    if ok and postings:
        first = await board_crawler.complete_posting(fetch, board, postings[0])
        postings = (first, *postings[1:])
    return BoardSample(
        ok, postings, len(crawled.postings), crawled.total, crawled.failure, crawled.detail
    )


async def test_source(tools: Tools, id: int, environ: Mapping[str, str]) -> BoardSample:
    """Test a source. A success is recorded; the postings are not saved."""
    async with tools.db.transaction() as tx:
        source = await sources.get(tx, id)
    sample = await sample_board(tools.fetch, board_of_source(source, environ))
    if sample.ok:
        async with tools.db.transaction() as tx:
            await sources.mark_tested(tx, id)
    return sample


async def crawl_source(
    tools: Tools, id: int, environ: Mapping[str, str], *, report: ReportProgress = lambda _: None
) -> CrawlResult:
    """Crawl a whole source; `catalog.crawl_results.save` saves the result."""
    async with tools.db.transaction() as tx:
        source = await sources.get(tx, id)
        if source.status == "rejected":
            raise Conflict(f"source {id} ({source.name}) is rejected: enable it first")
        started_at = await server_time(tx)
        board = board_of_source(source, environ).on_day(started_at.date())
        until = await source_health.check_hold(tx, board.shared_platform)
    if until:
        detail = f"{board.platform.title} has problems: paused until {until:%Y-%m-%d %H:%M} UTC"
        return CrawlResult(started_at, "held", failure="rate_limited", detail=detail)

    async def find_listings(identities: Sequence[str]) -> Mapping[str, ListingState]:
        async with tools.db.transaction() as tx:
            return await listings.find_by_identity(tx, identities)

    return await board_crawler.crawl(
        tools.fetch, board, find_listings, started_at=started_at, report=report
    )
