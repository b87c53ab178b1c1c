"""Analyze a company in four stages: fetch, extract, analyze, save. Each stage hands over to the
next item."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter

from jobmill import queue
from jobmill.boards import company_board, company_site, url_detection
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.boards.name_matching import names_company
from jobmill.catalog import companies, company_analyses, company_pages, sources, urls
from jobmill.catalog.companies import Company, CompanyId
from jobmill.catalog.company_analyses import CompanyBoard, CompanyFacts, CompanyFindings
from jobmill.catalog.company_pages import CompanyPage
from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import AppError, Conflict
from jobmill.extract.company import llm_facts, page_sections, site_facts
from jobmill.extract.company.page_sections import PageSections
from jobmill.matching import company_tiers, excluded_companies, profiles
from jobmill.matching.profile import Profile
from jobmill.matching.rules import company_score, tech_stack
from jobmill.outside.model_question import ModelAnswer
from jobmill.pipelines import blocked_models, company_website, discovery
from jobmill.pipelines.discovery import DiscoveryConfig
from jobmill.queue import (
    AcceptedItem,
    Block,
    Filter,
    Finish,
    HandOver,
    Move,
    NewItem,
    Skip,
    Work,
    lock_claim,
)
from jobmill.queue.refusals import find_live_item
from jobmill.queue.retry import classify_error
from jobmill.rotation import bundled_companies
from jobmill.sandbox import read_untrusted
from jobmill.tools import Tools

KIND = "company"
ReaderTier: TypeAlias = Literal["cheap", "strong", "none"]
"""Which model tier reads the pages."""

PENDING_PER_RUN = 20
"""Companies without waiting listings that are analyzed for the first time, per hour."""
_FACTS = TypeAdapter(CompanyFacts)
_FINDINGS = TypeAdapter(CompanyFindings)


def new_item(id: int, *, force: bool = False) -> NewItem:
    """The item that analyzes a company. `force` analyzes it even if its facts are complete and
    fresh."""
    data: dict[str, Any] = {"company": id}
    return NewItem(KIND, "fetch", f"company:{id}", data=data | {"force": True} if force else data)


async def ensure_company(tx: Tx, name: str, website: str | None = None) -> CompanyId:
    """Find or create the company to analyze. The website may lack https://, and may be left out for a
    company that the catalog or the bundled list knows."""
    if website and "://" not in website:
        website = f"https://{website}"
    id = await companies.get_or_create(tx, name, website)
    await company_website.learn(tx, await companies.get(tx, id), by_name=True)
    return id


async def fail_abandoned(tx: Tx) -> None:
    """Mark companies as failed when their item ended without finishing the analysis (cancelled,
    crashed or lost to a bug), so that none is shown as under analysis forever."""
    for id in await company_analyses.lock_analyzing(tx):
        if await find_live_item(tx, new_item(id)) is None:
            why = "its item ended before the analysis finished"
            await company_analyses.mark_unsuccessful(tx, id=id, status="failed", why=why)


async def submit_pending(tx: Tx) -> int:
    """Queue the analysis of companies that were met in listings and never analyzed; returns how many.
    One whose website cannot be learned ends as sparse, and is tried again with its next listing."""
    items = [new_item(id) for id in await company_analyses.find_pending(tx, PENDING_PER_RUN)]
    answers = await queue.submit_all(tx, items) if items else []
    return sum(isinstance(answer, AcceptedItem) for answer in answers)


# Fetch.


async def fetch(tools: Tools, work: Work) -> Move:
    """Download and store the pages on which the company describes itself."""
    async with _recording_failure(tools, work):
        async with tools.db.transaction() as tx:
            company = await company_website.learn(tx, await companies.get(tx, work.data["company"]))
            up_to_date = companies.is_up_to_date(company, await server_time(tx))
            excluded = await excluded_companies.find_exclusion(
                tx, PLATFORM_RULES, names=[company.name], urls=[company.website]
            )
        if excluded:
            return Filter(excluded)
        if up_to_date and not work.data.get("force"):
            return Skip("its facts are complete and up to date")
        if not company.website:
            return _end_as_sparse(
                company,
                "its website is unknown. Add the company again with its website",
            )
        async with tools.db.transaction() as tx:
            if await lock_claim(tx, work):
                await company_analyses.mark_analyzing(tx, company.id)
        pages = await company_site.read_site(tools.fetch, company.website, company.name)
        save_pages = partial(company_pages.replace_all, id=company.id, pages=pages)
        return HandOver(
            "extract",
            message=f"{len(pages)} {'page' if len(pages) == 1 else 'pages'}",
            save=save_pages,
        )


def _end_as_sparse(company: Company, why: str) -> Move:
    mark_sparse = partial(
        company_analyses.mark_unsuccessful, id=company.id, status="sparse", why=why
    )
    return Skip(why, save=mark_sparse)


# Extract.


async def extract(tools: Tools, reader: ReaderTier, work: Work) -> Move:
    """Read facts from the pages by rules, and also by a model if one is configured."""
    async with _recording_failure(tools, work):
        company = await _read_company(tools, work)
        pages, facts, is_named = await read_untrusted(
            _read_facts,
            await _read_pages(tools, work),
            company.name,
            cpu_seconds=company_site.SITE_CPU_SECONDS,
        )
        if _is_bundled_site(company) and not is_named:
            return _end_as_sparse(
                company,
                f"the pages of {company.website}, which the bundled list gives as its website, do not"
                " name it: nothing was taken from them",
            )
        if reader != "none":
            by_model = await _read_with_model(tools, reader, work, pages)
            if isinstance(by_model, Block):
                return by_model
            facts = site_facts.merge_facts(by_model, facts) if by_model else facts
        return HandOver("analyze", data={**work.data, "extracted_info": asdict(facts)})


def _is_bundled_site(company: Company) -> bool:
    """Whether this site comes from the bundled list, which is not verified."""
    bundled = bundled_companies.find_by_name(company.name)
    return bundled is not None and company.domain == urls.domain(bundled.website)


def _read_facts(
    pages: Sequence[CompanyPage], name: str
) -> tuple[list[PageSections], CompanyFacts, bool]:
    """The sections of the pages, the facts in them, and whether a page contains the company's name."""
    sections = [page_sections.read_sections(page) for page in pages]
    is_named = any(names_company(f"{page.title}\n{page.text}", name) for page in sections)
    return sections, site_facts.read_facts(sections), is_named


async def _read_with_model(
    tools: Tools, tier: Literal["cheap", "strong"], work: Work, pages: Sequence[PageSections]
) -> CompanyFacts | Block | None:
    """Read facts with a model and keep those that the pages confirm. None: continue without the
    model."""
    answer = await tools.model(
        llm_facts.build_question(pages, tier, item=work.id, run=work.tracking_id)
    )
    if isinstance(answer, ModelAnswer):
        return await read_untrusted(llm_facts.verify_claims, answer.answer, pages, answer.model)
    return blocked_models.block_or_retry(work, answer)


# Analyze.


async def analyze(tools: Tools, work: Work) -> Move:
    """Derive the tech stack, job board and score by rules."""
    async with _recording_failure(tools, work):
        company = await _read_company(tools, work)
        facts = _FACTS.validate_python(work.data["extracted_info"])
        findings = await read_untrusted(
            derive_findings,
            company,
            facts,
            await _read_pages(tools, work),
            await _default_profiles(tools),
            cpu_seconds=company_site.SITE_CPU_SECONDS,
        )
        findings = replace(findings, board=_choose_board(company, findings.board))
        if companies.is_minimal(company_analyses.apply_facts(company, facts)):
            return HandOver("save", data={**work.data, "analysis": asdict(findings)})
        return Skip(
            "its pages say too little about it",
            save=partial(_save, id=company.id, status="sparse", facts=facts, findings=findings),
            spawn=await _discovery_items(tools, company, findings.board),
        )


def derive_findings(
    company: Company,
    facts: CompanyFacts,
    pages: Sequence[CompanyPage],
    default_profiles: Sequence[Profile],
) -> CompanyFindings:
    """Derive the findings from a company's pages, for the default profile that it suits best."""
    updated = company_analyses.apply_facts(company, facts)
    description = "\n".join(text for text in (updated.about, updated.mission) if text)
    stack = tech_stack.find_tech_stack(
        description, [page_sections.read_sections(page).text for page in pages]
    )
    updated = replace(updated, tech_stack=list(stack.names) or updated.tech_stack)
    scores = [company_score.score_company(updated, stack, profile) for profile in default_profiles]
    score = max(scores, key=lambda score: score.points)
    return CompanyFindings(
        tech_stack=stack.names,
        ai_ml=bool(stack.ai_ml),
        tier=score.tier,
        priority_score=score.points,
        priority_items=tuple(asdict(item) for item in score.items),
        board=company_board.find_company_board(pages, company.name),
    )


def _choose_board(company: Company, board: CompanyBoard | None) -> CompanyBoard | None:
    """The board that the pages lead to; where they lead to none, or only to a page about jobs, the one
    that the bundled list names for this site, for discovery to try."""
    bundled = bundled_companies.find_by_name(company.name)
    if (board and board.confidence != "low") or bundled is None or not _is_bundled_site(company):
        return board
    evidence = f"the bundled list of companies names {bundled.key}"
    listed = url_detection.board_from_token(bundled.platform, bundled.slug, evidence, "high")
    if listed is None or not listed.url:
        return board
    return CompanyBoard(listed.url, listed.platform, "high", evidence, listed.token)


# Save.


async def save(tools: Tools, work: Work) -> Move:
    """Save the record. A board detected with high confidence becomes a source; others need
    approval."""
    async with _recording_failure(tools, work):
        company = await _read_company(tools, work)
        facts = _FACTS.validate_python(work.data["extracted_info"])
        findings = _FINDINGS.validate_python(work.data["analysis"])
        return Finish(
            f"tier {findings.tier} with {findings.priority_score} points",
            save=partial(_save, id=company.id, status="complete", facts=facts, findings=findings),
            spawn=await _discovery_items(tools, company, findings.board),
        )


async def _save(
    tx: Tx,
    *,
    id: int,
    status: Literal["complete", "sparse"],
    facts: CompanyFacts,
    findings: CompanyFindings,
) -> None:
    await company_tiers.lock_for_analysis(tx)
    await company_analyses.save(
        tx, id=id, status=status, facts=facts, findings=findings, platforms=PLATFORM_RULES
    )
    # The profile may have changed since the company was scored for it.
    defaults = await profiles.read_defaults(tx)
    await company_tiers.rescore_company(tx, await companies.get(tx, id), defaults)
    await company_pages.delete_all(tx, id=id)


async def _discovery_items(
    tools: Tools, company: Company, board: CompanyBoard | None
) -> list[NewItem]:
    """Items that discover a high-confidence board, unless it is a source already or a person has
    decided on it."""
    if board is None or board.confidence != "high" or company.job_board_decision == "approved":
        return []
    if company.job_board_decision and company_analyses.is_same_board(
        company, board, PLATFORM_RULES
    ):
        return []
    async with tools.db.transaction() as tx:
        is_source = await _is_source(tx, company, board)
    return [] if is_source else [_discovery_item(company, board)]


async def _is_source(tx: Tx, company: Company, board: CompanyBoard) -> bool:
    page = PLATFORM_RULES.canonical(board.url)
    company_sources = await sources.find(tx, company_id=company.id, limit=1_000)
    if any(
        source.url and PLATFORM_RULES.canonical(source.url) == page for source in company_sources
    ):
        return True
    same_token = await sources.find(tx, source_type=board.type, q=board.token, limit=1_000)
    return any(source.token.lower() == (board.token or "").lower() for source in same_token)


def _discovery_item(company: Company, board: CompanyBoard) -> NewItem:
    config = DiscoveryConfig(
        url=board.url,
        type_hint=board.type,
        company_id=company.id,
        company_name=company.name,
        auto_enable=True,
        validation_required=False,
    )
    return discovery.new_item(config, via="company_analysis")


# Shared by all stages.


async def _read_company(tools: Tools, work: Work) -> Company:
    async with tools.db.transaction() as tx:
        return await companies.get(tx, work.data["company"])


async def _read_pages(tools: Tools, work: Work) -> list[CompanyPage]:
    async with tools.db.transaction() as tx:
        pages = await company_pages.find(tx, work.data["company"])
    if not pages:
        raise Conflict("its pages are no longer kept. Analyze the company again")
    return pages


async def _default_profiles(tools: Tools) -> list[Profile]:
    async with tools.db.transaction() as tx:
        return await profiles.read_defaults(tx)


@asynccontextmanager
async def _recording_failure(tools: Tools, work: Work) -> AsyncGenerator[None]:
    """Mark the company as failed when the item fails for good, so that it is not shown as under
    analysis forever."""
    try:
        yield
    except AppError as error:
        retries_exhausted = (
            classify_error(error) == "transient" and work.retry_count >= work.max_retries
        )
        if retries_exhausted or classify_error(error) == "permanent":
            async with tools.db.transaction() as tx:
                # A stale attempt must not record anything: a newer one may have succeeded.
                if await lock_claim(tx, work):
                    await company_analyses.mark_unsuccessful(
                        tx, id=work.data["company"], status="failed", why=str(error)
                    )
        raise
