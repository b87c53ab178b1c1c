"""Judges one listing for one profile: scrape, filter, analyze, save.

One item goes through all of it; what its data holds says what comes next.
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
from jobmill.catalog import companies, listings, posting_identity, save_posting
from jobmill.catalog.companies import Company
from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import Posting
from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import OutsideError
from jobmill.extract import llm_extraction
from jobmill.matching import llm_review, matches, profiles
from jobmill.matching import local_score as judgement
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
from jobmill.pipelines import blocked_models
from jobmill.pipelines import company as company_pipeline
from jobmill.queue import Advance, Filter, Finish, Move, Skip, WaitFor, Work
from jobmill.queue.items import NORMAL_PRIORITY, Data
from jobmill.tools import Tools

FRESH = dt.timedelta(days=1)
"""A listing that was seen so lately is not fetched again."""
PATIENCE = dt.timedelta(minutes=5)
"""So long a listing waits until its company is known; then it goes on with what there is."""
GONE = Skip("the listing was removed meanwhile")
IN_REACH = 15
"""A model is asked about what is at most so far below the threshold: it rarely lifts more."""


def route(data: Data) -> str:
    """What comes next, by what is there."""
    if "job_data" not in data:
        return "scrape"
    if "filter_result" not in data:
        return "filter"
    if "match_result" not in data:
        return "ask" if "local_result" in data else "analyze"
    return "save"


def _on(work: Work, *, priority: int | None = None, **found: Any) -> Advance:
    data = {**work.data, **found}
    return Advance(route(data), data=data, priority=priority)


@dataclass(frozen=True, slots=True)
class ListingCase:
    """What is judged, and for whom."""

    work: Work
    version: ProfileVersion
    """Of the profile: the one that began to judge, else the newest."""
    listing: Listing
    company: Company | None

    @property
    def forced(self) -> bool:
        return bool(self.work.data.get("force"))

    def verdict(
        self,
        outcome: Outcome,
        sifted: FilterResult,
        result: MatchResult | None = None,
        local_score: int | None = None,
    ) -> Verdict:
        return Verdict(
            profile_id=self.version.profile_id,
            profile_version=self.version.version,
            listing_id=self.listing.id,
            outcome=outcome,
            filter_result=sifted,
            match_result=result,
            local_score=local_score,
            forced=self.forced,
            item=self.work.id,
        )


async def _case(tools: Tools, work: Work) -> ListingCase | None:
    """The case as it stands now; None if its listing was removed meanwhile."""
    async with tools.db.transaction() as tx:
        version = await _version(tx, work)
        listing = await _listing(tx, work)
        if listing is None:
            return None
        company = listing.company_id and await companies.get(
            tx, listing.company_id, with_counts=False
        )
    return ListingCase(work, version, listing, company or None)


async def _listing(tx: Tx, work: Work) -> Listing | None:
    if id := work.data.get("listing_id"):
        ids = [id]
    else:
        known = await listings.find_by_identity(tx, [work.data["job_data"]["identity"]])
        ids = [one.id for one in known.values()]
    found = await listings.by_ids(tx, ids)
    return found[0] if found else None


async def _version(tx: Tx, work: Work) -> ProfileVersion:
    id, version = ProfileId(work.data["profile_id"]), work.data.get("profile_version")
    return await profiles.get_by_id(tx, id, version=version)


# Scrape.


async def scrape(tools: Tools, environ: Mapping[str, str], work: Work) -> Move:
    """What the posting says: as we know it, by its board, from its page, or as a model reads it."""
    async with tools.db.transaction() as tx:
        version = await _version(tx, work)
        known = await _known(tx, work)
        now = await server_time(tx)
    stopped = _stopped(version, work, known)
    if stopped and not work.data.get("force"):
        return _stop(work, version, known, stopped)
    if known and not _is_stale(known, work, now):
        method = f"catalog:{known.platform or 'page'}"
        told = _fields(listings.to_posting(known), None) | {"identity": known.identity}
        return _on(work, job_data=told, scrape_method=method, listing_id=known.id)
    found = await single_posting.read_posting(tools.db, tools.fetch, work.data["url"], environ)
    if isinstance(found, ClosedPosting):
        save = partial(listings.close, id=known.id, why=found.reason) if known else None
        return Skip(found.reason, save=save)
    if isinstance(found, UnclearPage):
        return await _read_by_model(tools, work, found)
    return _scraped(work, found.posting, found.method, found.source_id)


async def _known(tx: Tx, work: Work) -> Listing | None:
    id = work.data.get("listing_id") or await listings.find_by_url(
        tx, work.data["url"], PLATFORM_RULES
    )
    found = await listings.by_ids(tx, [id]) if id else []
    return found[0] if found else None


def _is_stale(known: Listing, work: Work, now: dt.datetime) -> bool:
    """A source looks after its own; the others' pages may say something new."""
    if work.data.get("listing_id") or known.source_id:
        return False
    return known.partial or now - known.last_seen_at > FRESH


def _stopped(version: ProfileVersion, work: Work, known: Listing | None) -> Rejection | None:
    url: str = work.data["url"]
    title, company = (known.title, known.company) if known else (None, None)
    return stop_lists.find_rejection(
        version.profile(), PLATFORM_RULES, url=url, title=title, company=company
    )


def _stop(work: Work, version: ProfileVersion, known: Listing | None, why: Rejection) -> Move:
    result = FilterResult(False, 0, (why,), (), why.reason)
    data = {**work.data, "filter_result": result.to_dict()}
    if known is None:
        return Filter(why.reason, data=data)
    word = ListingCase(work, version, known, None).verdict("filtered", result)
    return Filter(why.reason, data=data, save=partial(matches.save_verdict, verdict=word))


async def _read_by_model(tools: Tools, work: Work, found: UnclearPage) -> Move:
    """What the cheap model reads from a page that nothing else understands."""
    answer = await tools.model(
        llm_extraction.build_question(found.html, found.url, item=work.id, run=work.tracking_id)
    )
    if isinstance(answer, ModelAnswer):
        posting = llm_extraction.build_posting(answer.answer, found.html, found.url)
        if posting and listings.is_minimal(posting):
            return _scraped(work, posting, f"model:{answer.model}", None)
    elif move := blocked_models.block_or_retry(work, answer):
        return move
    if found.posting and found.posting.title and work.data.get("force"):
        # Whoever insists gets what there is.
        return _scraped(work, found.posting, "text", None)
    raise OutsideError(_unread(found), permanent=True)


def _unread(found: UnclearPage) -> str:
    if found.posting and found.posting.title:
        known = f"the page says too little to be judged, only: {found.posting.title}"
        return f"{known}; `jobmill listing add URL --force` takes what there is"
    return "no posting could be read: the page is none, or needs JavaScript"


def _scraped(work: Work, posting: Posting, method: str, source_id: int | None) -> Move:
    posting = listings.make_storable(replace(posting, url=posting.url or work.data["url"]))
    site = company_site.website_of(posting)
    keep = partial(
        save_posting.save,
        posting=posting,
        platforms=PLATFORM_RULES,
        website=site,
        source_id=source_id,
    )
    # The number of a listing that is gone meanwhile is not that of the one which is kept now.
    told = _on(work, job_data=_fields(posting, site), scrape_method=method, listing_id=None)
    return replace(told, save=keep)


def _fields(posting: Posting, site: str | None) -> dict[str, Any]:
    """The fields of the posting that the item carries; the text stays in the catalog."""
    pay = posting.salary
    return {
        "identity": posting_identity.identity(posting, PLATFORM_RULES),
        "title": posting.title,
        "company": posting.company,
        "company_website": site,
        "location": posting.location,
        "url": posting.url,
        "posted_date": posting.posted_at.isoformat() if posting.posted_at else None,
        "salary": None if pay is None else [pay.min, pay.max, pay.currency, pay.period],
    }


# Filter.


async def apply_filter(tools: Tools, work: Work) -> Move:
    """Hard rejections and strikes; whoever insists goes on, and keeps what they said."""
    case = await _case(tools, work)
    if case is None:
        return GONE
    listing = case.listing
    if listing.closed_at:
        return Skip("the listing is closed")
    if _repeats(listing) and not case.forced:
        return Skip(f"it repeats listing {listing.duplicate_of}: {listing.duplicate_why}")
    result = judgement.apply_filter(case.version.profile(), listing, PLATFORM_RULES)
    record = result.to_dict()
    if result.passed or case.forced:
        return _on(work, filter_result=record, profile_version=case.version.version)
    return Filter(
        result.rejection_summary,
        data={**work.data, "filter_result": record},
        save=partial(matches.save_verdict, verdict=case.verdict("filtered", result)),
    )


def _repeats(listing: Listing) -> bool:
    """Whether another listing stands for it; the same work at another place is another offer."""
    return listing.duplicate_of is not None and listing.duplicate_kind != "multi_location"


# Analyze.


async def analyze(tools: Tools, work: Work) -> Move:
    """The local score, when the company is known or has been waited for."""
    case = await _case(tools, work)
    if case is None:
        return GONE
    company = case.company
    if company and work.waited_for is None and await _is_unknown(tools, company):
        return WaitFor(company_pipeline.new_item(company.id), at_most=PATIENCE)
    who = company_facts.to_employer(company)
    local = await judgement.score(tools.db, case.version.profile(), case.listing, who)
    if local.match_score < local.threshold - IN_REACH and not case.forced:
        return _conclude(case, local, local)
    # The best first, so that the budget buys the most; but first what a person insists on.
    least = 0 if case.forced else NORMAL_PRIORITY
    return _on(work, local_result=local.to_dict(), priority=least - local.match_score)


async def _is_unknown(tools: Tools, company: Company) -> bool:
    """Whether its analysis is under way, or has not been tried for long."""
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
    """What the strong model makes of what is in reach; without one the local score stands."""
    case = await _case(tools, work)
    if case is None:
        return GONE
    if case.listing.closed_at and not case.forced:
        # The budget may have kept it waiting for weeks.
        return Skip("the listing is closed")
    local = parse_match_result(work.data["local_result"])
    posting, profile = listings.to_posting(case.listing), case.version.profile()
    who = company_facts.to_employer(case.company)
    answer = await tools.model(
        llm_review.build_question(profile, posting, who, local, item=work.id, run=work.tracking_id)
    )
    if isinstance(answer, ModelAnswer):
        result = llm_review.combine_with_review(
            answer.answer, answer.model, local, profile, posting
        )
        return _conclude(case, result, local)
    return blocked_models.block_or_retry(work, answer) or _conclude(case, local, local)


def _conclude(case: ListingCase, result: MatchResult, local: MatchResult) -> Move:
    if result.fits or case.forced:
        return _on(case.work, match_result=result.to_dict(), local_score=local.match_score)
    sifted = parse_filter_result(case.work.data["filter_result"])
    word = case.verdict("skipped", sifted, result, local.match_score)
    return Skip(_below(result), save=partial(matches.save_verdict, verdict=word))


def _below(result: MatchResult) -> str:
    """Why it is none of the few: the score, and what cost most."""
    lost = sorted(result.items, key=lambda item: item.points - item.most)[:3]
    reasons = "; ".join(item.why for item in lost if item.points < item.most)
    return f"score {result.match_score} is below {result.threshold}: {reasons}"


# Save.


async def save(tools: Tools, work: Work) -> Move:
    """The match, and with it the end of the item."""
    case = await _case(tools, work)
    if case is None:
        return GONE
    sifted, result = (
        parse_filter_result(work.data["filter_result"]),
        parse_match_result(work.data["match_result"]),
    )
    word = case.verdict("matched", sifted, result, work.data["local_score"])
    method: str = work.data["scrape_method"]
    return Finish(
        f"{result.application_priority} match with score {result.match_score}",
        save=partial(matches.save_verdict, verdict=word, scrape_method=method),
    )
