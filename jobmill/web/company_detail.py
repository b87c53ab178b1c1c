"""Read one company with its sources, jobs and history; add a company and have it analyzed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import companies, history, listing_search, sources
from jobmill.catalog.companies import Company, CompanyId
from jobmill.catalog.listing_search import ListingHit
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import Invalid
from jobmill.matching import company_tiers, excluded_companies, profiles
from jobmill.matching.rules.company_score import CompanyScore
from jobmill.people.persons import Owner
from jobmill.pipelines import company as company_pipeline
from jobmill.queue import ItemId
from jobmill.queue.inspect import Item
from jobmill.reports import contents as report_contents
from jobmill.reports.report import ReportContents
from jobmill.web import job_view, task_progress
from jobmill.web.task_progress import TaskProgress
from jobmill.web.translations import say

MAX_LISTINGS = 10
MAX_SOURCES = 50
MAX_EVENTS = 20


@dataclass(frozen=True, slots=True)
class CompanyDetail:
    company: Company
    sources: list[Source]
    newest: Sequence[ListingHit]
    events: list[history.CatalogEvent]
    progress: TaskProgress | None
    score: CompanyScore | None
    """For the visitor's default profile; None without one, or before the company is analyzed."""
    excluded: str | None
    """The entry of the visitor's stop list that excludes it."""
    is_read: bool
    """Whether the stop list of one profile at least does not exclude it, so that it is read."""
    report: ReportContents | None
    """The newest completed website report."""


async def read_company_detail(
    tx: Tx, id: int, owner: Owner, *, item: int | None = None
) -> CompanyDetail:
    """`item`: the task to report the progress of, if it analyzes this company."""

    def is_analysis(candidate: Item) -> bool:
        return candidate.kind == company_pipeline.KIND and candidate.data.get("company") == id

    company = await companies.get(tx, id)
    return CompanyDetail(
        company,
        await sources.find(tx, company_id=id, limit=MAX_SOURCES),
        (
            await listing_search.find(
                tx, listing_search.ListingQuery(company_id=id), limit=MAX_LISTINGS
            )
        ).hits,
        await history.find_events(tx, "company", id, limit=MAX_EVENTS),
        await task_progress.read_progress(tx, item, is_analysis) if item else None,
        await _score(tx, company, owner),
        excluded_companies.explain_exclusion(
            await profiles.read_active(tx, owner=owner),
            PLATFORM_RULES,
            names=[company.name],
            urls=[company.website],
        ),
        await excluded_companies.find_exclusion(
            tx, PLATFORM_RULES, names=[company.name], urls=[company.website]
        )
        is None,
        await report_contents.read_newest(tx, id),
    )


async def _score(tx: Tx, company: Company, owner: Owner) -> CompanyScore | None:
    version = await job_view.find_profile(tx, None, owner)
    if version is None or company.tier is None:
        return None
    return company_tiers.score_stored(company, version.profile())


async def add_company(tx: Tx, name: str, website: str) -> CompanyId:
    """Find or create the company; Invalid if the name is missing or is a web address."""
    if not name:
        raise Invalid(say("Enter the name of the company."))
    if "://" in name or name.lower().startswith("www."):
        raise Invalid(say("The name looks like a web address. Enter it under Website instead."))
    return await company_pipeline.ensure_company(tx, name, website or None)


async def submit_analysis(tx: Tx, id: int, *, force: bool) -> ItemId | None:
    """The item that analyzes the company; None if its record is complete and recent."""
    company = await companies.get(tx, id, with_counts=False)
    if not force and companies.is_up_to_date(company, await server_time(tx)):
        return None
    return await task_progress.submit_or_join(tx, company_pipeline.new_item(id, force=force))
