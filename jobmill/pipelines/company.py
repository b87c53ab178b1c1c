"""Learns what a company is: fetch, extract, analyze, save, each an item that hands over to the next."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter

from jobmill.boards import company_board, company_site
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import companies, company_analyses, company_pages, sources
from jobmill.catalog.companies import Company, CompanyId
from jobmill.catalog.company_analyses import CompanyBoard, CompanyFacts, CompanyFindings
from jobmill.catalog.company_pages import CompanyPage
from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import AppError, Conflict, NotFound
from jobmill.extract.company import llm_facts, page_sections, site_facts
from jobmill.extract.company.page_sections import PageSections
from jobmill.matching import profiles
from jobmill.matching.profile import Profile
from jobmill.matching.rules import company_score, tech_stack
from jobmill.outside.model_question import ModelAnswer
from jobmill.pipelines import blocked_models, discovery
from jobmill.pipelines.discovery import DiscoveryConfig
from jobmill.queue import Block, Finish, HandOver, Move, NewItem, Skip, Work, lock_claim
from jobmill.queue.refusals import find_live_item
from jobmill.queue.retry import classify_error
from jobmill.tools import Tools

KIND = "company"
Reader: TypeAlias = Literal["cheap", "strong", "none"]
"""Which model reads the pages."""

_FACTS = TypeAdapter(CompanyFacts)
_FINDINGS = TypeAdapter(CompanyFindings)


def new_item(id: int, *, force: bool = False) -> NewItem:
    """The item that analyses a company; `force` also where enough is known and fresh."""
    data: dict[str, Any] = {"company": id}
    return NewItem(KIND, "fetch", f"company:{id}", data=data | {"force": True} if force else data)


async def ensure_company(tx: Tx, name: str, website: str | None = None) -> CompanyId:
    """The company to be analysed, made if need be; a site may be given without https://."""
    if website and "://" not in website:
        website = f"https://{website}"
    return await companies.get_or_create(tx, name, website)


async def fail_abandoned(tx: Tx) -> None:
    """Let no company seem to be under analysis for ever: whatever ended its item (a person, a crash, a
    fault of ours) could not say so."""
    for id in await company_analyses.lock_analyzing(tx):
        if await find_live_item(tx, new_item(id)) is None:
            why = "its item ended before its analysis did"
            await company_analyses.mark_unsuccessful(tx, id=id, status="failed", why=why)


# Fetch.


async def fetch(tools: Tools, work: Work) -> Move:
    """Keep the pages on which the company speaks of itself."""
    async with _failing(tools, work):
        async with tools.db.transaction() as tx:
            company = await companies.get(tx, work.data["company"])
            settled = companies.is_up_to_date(company, await server_time(tx))
        if settled and not work.data.get("force"):
            return Skip("enough is known of it, and that is fresh")
        if not company.website:
            return _give_up(
                company, "no website of it is known: `jobmill company add NAME --website URL`"
            )
        async with tools.db.transaction() as tx:
            if await lock_claim(tx, work):
                await company_analyses.mark_analyzing(tx, company.id)
        pages = await company_site.read_site(tools.fetch, company.website, company.name)
        keep = partial(company_pages.replace_all, id=company.id, pages=pages)
        return HandOver(
            "extract", message=f"{len(pages)} {'page' if len(pages) == 1 else 'pages'}", save=keep
        )


def _give_up(company: Company, why: str) -> Move:
    end = partial(company_analyses.mark_unsuccessful, id=company.id, status="sparse", why=why)
    return Skip(why, save=end)


# Extract.


async def extract(tools: Tools, reader: Reader, work: Work) -> Move:
    """What the pages tell, by a model where there is one, and in any case by rules."""
    async with _failing(tools, work):
        pages = [page_sections.read_sections(page) for page in await _pages(tools, work)]
        facts = site_facts.read_facts(pages)
        if reader != "none":
            by_model = await _ask(tools, reader, work, pages)
            if isinstance(by_model, Block):
                return by_model
            facts = site_facts.merge_facts(by_model, facts) if by_model else facts
        return HandOver("analyze", data={**work.data, "extracted_info": asdict(facts)})


async def _ask(
    tools: Tools, tier: Literal["cheap", "strong"], work: Work, pages: Sequence[PageSections]
) -> CompanyFacts | Block | None:
    """What a model reads and the pages bear out; None: go on without it."""
    answer = await tools.model(
        llm_facts.build_question(pages, tier, item=work.id, run=work.tracking_id)
    )
    if isinstance(answer, ModelAnswer):
        return llm_facts.verify_claims(answer.answer, pages, answer.model)
    return blocked_models.block_or_retry(work, answer)


# Analyze.


async def analyze(tools: Tools, work: Work) -> Move:
    """Its technologies, its board and its score, by rules alone."""
    async with _failing(tools, work):
        company = await _company(tools, work)
        facts = _FACTS.validate_python(work.data["extracted_info"])
        findings = derive_findings(company, facts, await _pages(tools, work), await _profile(tools))
        if companies.is_minimal(company_analyses.apply_facts(company, facts)):
            return HandOver("save", data={**work.data, "analysis": asdict(findings)})
        return Skip(
            "its pages tell too little about it",
            save=partial(_save, id=company.id, status="sparse", facts=facts, findings=findings),
            spawn=await _spawns(tools, company, findings.board),
        )


def derive_findings(
    company: Company, facts: CompanyFacts, pages: Sequence[CompanyPage], profile: Profile
) -> CompanyFindings:
    """What follows from a company's pages for a profile."""
    known = company_analyses.apply_facts(company, facts)
    said = "\n".join(text for text in (known.about, known.mission) if text)
    stack = tech_stack.find_tech_stack(
        said, [page_sections.read_sections(page).text for page in pages]
    )
    known = replace(known, tech_stack=list(stack.names) or known.tech_stack)
    score = company_score.score_company(known, stack, profile)
    return CompanyFindings(
        tech_stack=stack.names,
        ai_ml=bool(stack.ai_ml),
        tier=score.tier,
        priority_score=score.points,
        priority_items=tuple(asdict(item) for item in score.items),
        board=company_board.find_company_board(pages, company.name),
    )


# Save.


async def save(tools: Tools, work: Work) -> Move:
    """The record; a board that is sure becomes a source, any other waits for a person."""
    async with _failing(tools, work):
        company = await _company(tools, work)
        facts = _FACTS.validate_python(work.data["extracted_info"])
        findings = _FINDINGS.validate_python(work.data["analysis"])
        return Finish(
            f"tier {findings.tier} with {findings.priority_score} points",
            save=partial(_save, id=company.id, status="complete", facts=facts, findings=findings),
            spawn=await _spawns(tools, company, findings.board),
        )


async def _save(
    tx: Tx,
    *,
    id: int,
    status: Literal["complete", "sparse"],
    facts: CompanyFacts,
    findings: CompanyFindings,
) -> None:
    await company_analyses.save(
        tx, id=id, status=status, facts=facts, findings=findings, platforms=PLATFORM_RULES
    )
    await company_pages.delete_all(tx, id=id)


async def _spawns(tools: Tools, company: Company, found: CompanyBoard | None) -> list[NewItem]:
    """The discovery of a sure board that is no source yet, and on which nobody has decided."""
    if found is None or found.confidence != "high" or company.job_board_decision == "approved":
        return []
    if company.job_board_decision and company_analyses.is_same_board(
        company, found, PLATFORM_RULES
    ):
        return []
    async with tools.db.transaction() as tx:
        known = await _is_source(tx, company, found)
    return [] if known else [_discovery(company, found)]


async def _is_source(tx: Tx, company: Company, found: CompanyBoard) -> bool:
    page = PLATFORM_RULES.canonical(found.url)
    own = await sources.find(tx, company_id=company.id, limit=1_000)
    if any(one.url and PLATFORM_RULES.canonical(one.url) == page for one in own):
        return True
    same = await sources.find(tx, source_type=found.type, q=found.token, limit=1_000)
    return any(one.token.lower() == (found.token or "").lower() for one in same)


def _discovery(company: Company, found: CompanyBoard) -> NewItem:
    config = DiscoveryConfig(
        url=found.url,
        type_hint=found.type,
        company_id=company.id,
        company_name=company.name,
        auto_enable=True,
        validation_required=False,
    )
    return discovery.new_item(config, via="company_analysis")


# What all stages need.


async def _company(tools: Tools, work: Work) -> Company:
    async with tools.db.transaction() as tx:
        return await companies.get(tx, work.data["company"])


async def _pages(tools: Tools, work: Work) -> list[CompanyPage]:
    async with tools.db.transaction() as tx:
        pages = await company_pages.find(tx, work.data["company"])
    if not pages:
        raise Conflict("its pages are no longer kept: `jobmill company add … --force` begins anew")
    return pages


async def _profile(tools: Tools) -> Profile:
    """The default profile; before there is one, what every profile begins with."""
    async with tools.db.transaction() as tx:
        try:
            return (await profiles.get(tx)).profile()
        except NotFound:
            return Profile()


@asynccontextmanager
async def _failing(tools: Tools, work: Work) -> AsyncGenerator[None]:
    """Let the company not seem to be under analysis for ever when the item fails for good."""
    try:
        yield
    except AppError as error:
        last = classify_error(error) == "transient" and work.retry_count >= work.max_retries
        if last or classify_error(error) == "permanent":
            async with tools.db.transaction() as tx:
                # An attempt that lost its item says nothing: another one may have succeeded.
                if await lock_claim(tx, work):
                    await company_analyses.mark_unsuccessful(
                        tx, id=work.data["company"], status="failed", why=str(error)
                    )
        raise
