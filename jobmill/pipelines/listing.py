"""Judge one listing for one profile: scrape, filter, analyze, review, save.

One item runs all stages; the fields in its data decide which stage comes next.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from jobmill.boards import company_site, single_posting
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.boards.single_posting import ClosedPosting, UnclearPage
from jobmill.catalog import companies, listing_pages, listings, posting_identity, save_posting
from jobmill.catalog.companies import Company
from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import Posting
from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import OutsideError
from jobmill.extract import llm_extraction
from jobmill.matching import llm_review, local_verdict, matches, profiles
from jobmill.matching.profiles import ProfileId, ProfileVersion
from jobmill.matching.rules import company_facts, stop_lists
from jobmill.matching.verdict import (
    FilterResult,
    MatchResult,
    Rejection,
    parse_filter_result,
    parse_match_result,
)
from jobmill.matching.verdicts import Outcome, Verdict
from jobmill.outside.model_question import ModelAnswer
from jobmill.pipelines import blocked_models, company_website, linked_board, partial_listings
from jobmill.pipelines import company as company_pipeline
from jobmill.pipelines.partial_listings import PageReader, PageResult
from jobmill.queue import Advance, Filter, Finish, Move, Skip, WaitFor, Work
from jobmill.queue.items import NORMAL_PRIORITY, Data
from jobmill.sandbox import read_untrusted
from jobmill.tools import Tools

FRESH_FOR = dt.timedelta(days=1)
"""A listing seen more recently than this is not fetched again."""
MAX_COMPANY_WAIT = dt.timedelta(minutes=5)
"""How long a listing waits for the analysis of its company before it continues without."""
LISTING_DELETED = Skip("the listing was deleted in the meantime")


def route(data: Data) -> str:
    """Choose the next stage by the fields that the data already has."""
    if "job_data" not in data:
        return "scrape"
    if "filter_result" not in data:
        return "filter"
    if "match_result" not in data:
        return "ask" if "local_result" in data else "analyze"
    return "save"


def _advance(work: Work, *, priority: int | None = None, **fields: Any) -> Advance:
    data = {**work.data, **fields}
    return Advance(route(data), data=data, priority=priority)


@dataclass(frozen=True, slots=True)
class ListingCase:
    """A listing to judge, with its company and the profile to judge it for."""

    work: Work
    version: ProfileVersion
    """The version with which judging started, else the newest."""
    listing: Listing
    company: Company | None

    @property
    def forced(self) -> bool:
        return bool(self.work.data.get("force"))

    def verdict(
        self,
        outcome: Outcome,
        filter_result: FilterResult,
        result: MatchResult | None = None,
        local_score: int | None = None,
    ) -> Verdict:
        return Verdict(
            profile_id=self.version.profile_id,
            profile_version=self.version.version,
            listing_id=self.listing.id,
            outcome=outcome,
            filter_result=filter_result,
            match_result=result,
            local_score=local_score,
            forced=self.forced,
            item=self.work.id,
        )


async def _read_case(tools: Tools, work: Work) -> ListingCase | None:
    """Read the current case. None: its listing was deleted in the meantime."""
    async with tools.db.transaction() as tx:
        version = await _read_version(tx, work)
        listing = await _read_listing(tx, work)
        if listing is None:
            return None
        company = listing.company_id and await companies.get(
            tx, listing.company_id, with_counts=False
        )
    return ListingCase(work, version, listing, company or None)


async def _read_listing(tx: Tx, work: Work) -> Listing | None:
    if id := work.data.get("listing_id"):
        ids = [id]
    else:
        rows = await listings.find_by_identity(tx, [work.data["job_data"]["identity"]])
        ids = [row.id for row in rows.values()]
    stored = await listings.by_ids(tx, ids)
    return stored[0] if stored else None


async def _read_version(tx: Tx, work: Work) -> ProfileVersion:
    id, version = ProfileId(work.data["profile_id"]), work.data.get("profile_version")
    return await profiles.get_by_id(tx, id, version=version)


# Scrape.


async def scrape(
    tools: Tools, environ: Mapping[str, str], pages_per_day: float, work: Work
) -> Move:
    """Read the posting from the catalog, its board's API or its page, in the last resort with a
    model. A listing that its source shows in part is completed from its own page."""
    async with tools.db.transaction() as tx:
        version = await _read_version(tx, work)
        stored = await _find_stored(tx, work)
        own_page = await listing_pages.get(tx, stored.id) if stored else None
        now = await server_time(tx)
    rejection = _check_stop_lists(version, work, stored)
    if rejection and not work.data.get("force"):
        return _filter_early(work, version, stored, rejection)
    if stored and not _is_stale(stored, work, now):
        due = stored.source_id is not None and listing_pages.is_due(own_page, now)
        if await partial_listings.is_wanted(version.profile(), stored, own_page, due=due):
            reader = PageReader(tools, environ, pages_per_day)
            return _advance_with_page(work, stored, await reader.read(work, stored))
        return _advance_with_stored(work, stored)
    page = await single_posting.read_posting(tools.db, tools.fetch, work.data["url"], environ)
    if isinstance(page, ClosedPosting):
        save = partial(listings.close, id=stored.id, why=page.reason) if stored else None
        return Skip(page.reason, save=save)
    if isinstance(page, UnclearPage):
        return await _read_by_model(tools, work, page)
    return _advance_with_posting(work, page.posting, page.method, page.source_id)


def _advance_with_stored(work: Work, stored: Listing) -> Advance:
    method = f"catalog:{stored.platform or 'page'}"
    job_data = _job_data(listings.to_posting(stored), None) | {"identity": stored.identity}
    return _advance(work, job_data=job_data, scrape_method=method, listing_id=stored.id)


def _advance_with_page(work: Work, stored: Listing, page: PageResult) -> Move:
    if page.closed:
        return Skip(page.closed, save=page.save)
    move = _advance_with_stored(work, stored)
    if page.method and move.data:
        move = replace(move, data={**move.data, "scrape_method": page.method})
    return replace(move, save=page.save)


async def _find_stored(tx: Tx, work: Work) -> Listing | None:
    id = work.data.get("listing_id") or await listings.find_by_url(
        tx, work.data["url"], PLATFORM_RULES
    )
    stored = await listings.by_ids(tx, [id]) if id else []
    return stored[0] if stored else None


def _is_stale(stored: Listing, work: Work, now: dt.datetime) -> bool:
    """Whether to fetch the listing again. Sources refresh their own listings; other pages may have
    changed."""
    if work.data.get("listing_id") or stored.source_id:
        return False
    return stored.partial or now - stored.last_seen_at > FRESH_FOR


def _check_stop_lists(
    version: ProfileVersion, work: Work, stored: Listing | None
) -> Rejection | None:
    url: str = work.data["url"]
    title, company = (stored.title, stored.company) if stored else (None, None)
    return stop_lists.find_rejection(
        version.profile(), PLATFORM_RULES, url=url, title=title, company=company
    )


def _filter_early(
    work: Work, version: ProfileVersion, stored: Listing | None, rejection: Rejection
) -> Move:
    result = FilterResult(False, 0, (rejection,), (), rejection.reason)
    data = {**work.data, "filter_result": result.to_dict()}
    if stored is None:
        return Filter(rejection.reason, data=data)
    verdict = ListingCase(work, version, stored, None).verdict("filtered", result)
    return Filter(rejection.reason, data=data, save=partial(matches.save_verdict, verdict=verdict))


async def _read_by_model(tools: Tools, work: Work, page: UnclearPage) -> Move:
    """Let the cheap model read a page that no parser understands."""
    text = await read_untrusted(llm_extraction.visible_text, page.html, page.url)
    async with tools.db.transaction() as tx:
        version = await _read_version(tx, work)
    question = llm_extraction.build_question(text, item=work.id, run=work.tracking_id)
    answer = await tools.model(replace(question, person_id=version.owner_id))
    if isinstance(answer, ModelAnswer):
        posting = await read_untrusted(llm_extraction.build_posting, answer.answer, text, page.url)
        if posting and listings.is_minimal(posting):
            return _advance_with_posting(work, posting, f"model:{answer.model}", None)
    elif move := blocked_models.block_or_retry(work, answer):
        return move
    if page.posting and page.posting.title and work.data.get("force"):
        # With `force`, judge the little that the page says.
        return _advance_with_posting(work, page.posting, "text", None)
    raise UnreadablePosting(_unreadable_message(page), page.posting)


class UnreadablePosting(OutsideError):
    """A page that shows no complete job; `posting` is what could be read of it."""

    def __init__(self, message: str, posting: Posting | None) -> None:
        super().__init__(message, permanent=True)
        self.posting = posting


def _unreadable_message(page: UnclearPage) -> str:
    if page.posting and page.posting.title:
        problem = f"the page says too little to score the job (title: {page.posting.title})"
        return f"{problem}. Paste the text of the job under Jobs to score it"
    if page.render_problem:
        return f"no job could be read: the page needs JavaScript, and {page.render_problem}"
    return "no job could be read: the page shows none"


def _advance_with_posting(work: Work, posting: Posting, method: str, source_id: int | None) -> Move:
    posting = listings.make_storable(replace(posting, url=posting.url or work.data["url"]))
    website = company_site.website_of(posting)
    save = partial(
        save_posting.save,
        posting=posting,
        platforms=PLATFORM_RULES,
        website=website,
        source_id=source_id,
    )
    # The id may belong to a listing that was deleted; saving may create another one.
    move = _advance(
        work, job_data=_job_data(posting, website), scrape_method=method, listing_id=None
    )
    return replace(move, save=save)


def _job_data(posting: Posting, website: str | None) -> dict[str, Any]:
    """The posting's fields for the item's data, without the text: that stays in the catalog."""
    salary = posting.salary
    return {
        "identity": posting_identity.identity(posting, PLATFORM_RULES),
        "title": posting.title,
        "company": posting.company,
        "company_website": website,
        "location": posting.location,
        "url": posting.url,
        "posted_date": posting.posted_at.isoformat() if posting.posted_at else None,
        "salary": None
        if salary is None
        else [salary.min, salary.max, salary.currency, salary.period],
    }


# Filter.


async def apply_filter(tools: Tools, work: Work) -> Move:
    """Apply hard rejections and strikes. A forced listing continues and keeps the result."""
    case = await _read_case(tools, work)
    if case is None:
        return LISTING_DELETED
    listing = case.listing
    if listing.closed_at:
        return Skip("the listing is closed")
    if listings.is_duplicate(listing) and not case.forced:
        return Skip(f"duplicate of listing {listing.duplicate_of}: {listing.duplicate_why}")
    result = await local_verdict.apply_filter(case.version.profile(), listing, PLATFORM_RULES)
    record = result.to_dict()
    if result.passed or case.forced:
        move = _advance(work, filter_result=record, profile_version=case.version.version)
        return await _with_discovery(tools, case, move)
    return Filter(
        result.rejection_summary,
        data={**work.data, "filter_result": record},
        save=partial(matches.save_verdict, verdict=case.verdict("filtered", result)),
    )


async def _with_discovery(tools: Tools, case: ListingCase, move: Advance) -> Advance:
    """The move, with the discovery of a board that the listing links to and that is not known."""
    if case.listing.private:
        return move  # Everyone would see the discovered board.
    async with tools.db.transaction() as tx:
        board = await linked_board.find_new(tx, case.listing, case.company, case.version.profile())
    if board is None:
        return move
    return replace(move, save=board.record, spawn=[board.discovery_item()])


# Analyze.


async def analyze(tools: Tools, work: Work) -> Move:
    """Compute the local score, after waiting for the company's analysis if there is none yet."""
    case = await _read_case(tools, work)
    if case is None:
        return LISTING_DELETED
    company = case.company and await _with_website(tools, case.company)
    if company and work.waited_for is None and await _needs_analysis(tools, company):
        return WaitFor(company_pipeline.new_item(company.id), at_most=MAX_COMPANY_WAIT)
    employer = company_facts.to_employer(company)
    local = await local_verdict.score(case.version.profile(), case.listing, employer)
    if not case.forced and not llm_review.is_near_threshold(local):
        return _conclude(case, local, local)
    # Review the best scores first to get the most from the budget; forced listings come before all.
    base_priority = 0 if case.forced else NORMAL_PRIORITY
    return _advance(work, local_result=local.to_dict(), priority=base_priority - local.match_score)


async def _with_website(tools: Tools, company: Company) -> Company:
    async with tools.db.transaction() as tx:
        return await company_website.learn(tx, company)


async def _needs_analysis(tools: Tools, company: Company) -> bool:
    """Whether the company's analysis is under way or overdue."""
    if company.website is None:
        return False
    async with tools.db.transaction() as tx:
        now = await server_time(tx)
    if companies.is_up_to_date(company, now):
        return False
    if company.analysis_status in ("pending", "analyzing"):
        return True
    return company.analyzed_at is None or now - company.analyzed_at > companies.REANALYZE_AFTER


async def review(tools: Tools, work: Work) -> Move:
    """Let the strong model review the score. Without a model the local score stands."""
    case = await _read_case(tools, work)
    if case is None:
        return LISTING_DELETED
    if case.listing.closed_at and not case.forced:
        # The item may have been blocked on the budget for weeks.
        return Skip("the listing is closed")
    local = parse_match_result(work.data["local_result"])
    posting, profile = listings.to_posting(case.listing), case.version.profile()
    employer = company_facts.to_employer(case.company)
    question = llm_review.build_question(
        profile, posting, employer, local, item=work.id, run=work.tracking_id
    )
    answer = await tools.model(replace(question, person_id=case.version.owner_id))
    if isinstance(answer, ModelAnswer):
        # Claims are looked up in the posting's text, whose author may be hostile.
        result = await read_untrusted(
            llm_review.combine_with_review, answer.answer, answer.model, local, profile, posting
        )
        return _conclude(case, result, local)
    return blocked_models.block_or_retry(work, answer) or _conclude(case, local, local)


def _conclude(case: ListingCase, result: MatchResult, local: MatchResult) -> Move:
    if result.fits or case.forced:
        return _advance(case.work, match_result=result.to_dict(), local_score=local.match_score)
    filter_result = parse_filter_result(case.work.data["filter_result"])
    verdict = case.verdict("skipped", filter_result, result, local.match_score)
    return Skip(
        _below_threshold_message(result), save=partial(matches.save_verdict, verdict=verdict)
    )


def _below_threshold_message(result: MatchResult) -> str:
    """Explain a score below the threshold by the items that cost most."""
    lost = sorted(result.items, key=lambda item: item.points - item.most)[:3]
    reasons = "; ".join(item.why for item in lost if item.points < item.most)
    return f"score {result.match_score} is below {result.threshold}: {reasons}"


# Save.


async def save(tools: Tools, work: Work) -> Move:
    """Save the match and finish the item."""
    case = await _read_case(tools, work)
    if case is None:
        return LISTING_DELETED
    filter_result, result = (
        parse_filter_result(work.data["filter_result"]),
        parse_match_result(work.data["match_result"]),
    )
    verdict = case.verdict("matched", filter_result, result, work.data["local_score"])
    method: str = work.data["scrape_method"]
    return Finish(
        f"{result.application_priority} match with score {result.match_score}",
        save=partial(matches.save_verdict, verdict=verdict, scrape_method=method),
    )
