"""Results of company analyses: facts from the company's pages and findings derived from them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from psycopg.types.json import Jsonb

from jobmill.catalog.companies import (
    GOOD_ABOUT_LENGTH,
    GOOD_CULTURE_LENGTH,
    AnalysisStatus,
    Company,
    CompanyId,
    Confidence,
    SizeCategory,
    Tier,
)
from jobmill.db import Tx

from . import companies, history
from .platform_rules import PlatformRules

MAX_SMALL: Final = 50
"""The most people a small company has."""
MAX_MEDIUM: Final = 1_000
"""The most people a medium company has."""

_NUMBER = re.compile(
    r"(\d{1,3}(?:[,.\s\u2019']\d{3})+|\d+(?:\.\d+)?)(\s?k\b)?(\s?\+)?", re.IGNORECASE
)
_MORE = re.compile(r"\b(?:over|more than|above|exceed\w*|über|plus de|más de)\s*$", re.IGNORECASE)
_WORDS: Final[tuple[tuple[SizeCategory, re.Pattern[str]], ...]] = (
    ("medium", re.compile(r"\bmid(?:dle)?[\s-]?(?:siz|market)|\bmedium\b|mittelst", re.IGNORECASE)),
    ("small", re.compile(r"\b(?:start-?up|small|boutique|tiny|family[\s-]run)\b", re.IGNORECASE)),
    ("large", re.compile(r"\b(?:large|enterprise|multinational)\b", re.IGNORECASE)),
)


@dataclass(frozen=True, slots=True)
class CompanyFacts:
    """Facts from the pages of a company. None and () mean that the pages do not say."""

    about: str | None = None
    culture: str | None = None
    mission: str | None = None
    size: str | None = None
    headquarters_location: str | None = None
    industry: str | None = None
    founded: str | None = None
    offices: tuple[str, ...] = ()
    remote_first: bool | None = None
    extracted_by: str = "heuristics"


@dataclass(frozen=True, slots=True)
class CompanyBoard:
    """The job board where a company seems to publish its postings."""

    url: str
    type: str
    """The platform."""
    confidence: Confidence
    evidence: str
    token: str | None = None


@dataclass(frozen=True, slots=True)
class CompanyFindings:
    """Conclusions from the facts of a company."""

    tech_stack: tuple[str, ...] = ()
    ai_ml: bool = False
    tier: Tier = "D"
    priority_score: int = 0
    priority_items: tuple[dict[str, Any], ...] = ()
    board: CompanyBoard | None = None


def apply_facts(company: Company, facts: CompanyFacts) -> Company:
    """The company with new facts; a missing fact never replaces a stored one."""
    size = facts.size or company.size
    return replace(
        company,
        about=choose_text(company.about, facts.about, GOOD_ABOUT_LENGTH),
        culture=choose_text(company.culture, facts.culture, GOOD_CULTURE_LENGTH),
        mission=facts.mission or company.mission,
        size=size,
        company_size_category=categorize_size(size) or company.company_size_category,
        headquarters_location=facts.headquarters_location or company.headquarters_location,
        industry=facts.industry or company.industry,
        founded=facts.founded or company.founded,
        offices=list(facts.offices) or company.offices,
        remote_first=company.remote_first if facts.remote_first is None else facts.remote_first,
        extracted_by=facts.extracted_by,
    )


def categorize_size(size: str | None) -> SizeCategory | None:
    """The size by the number of people, for a range by its upper end; otherwise by a word such as
    "startup"; None if neither is given."""
    if not size:
        return None
    people = [_parse_headcount(size, match) for match in _NUMBER.finditer(size)]
    if people:
        largest = max(people)
        return "small" if largest <= MAX_SMALL else "medium" if largest <= MAX_MEDIUM else "large"
    return next((name for name, words in _WORDS if words.search(size)), None)


def _parse_headcount(size: str, match: re.Match[str]) -> float:
    digits, thousands, plus = match.groups()
    grouped = re.fullmatch(r"\d{1,3}(?:\D\d{3})+", digits)
    number = float(re.sub(r"\D", "", digits) if grouped else digits)
    number *= 1_000 if thousands else 1
    # "1,000+" and "over 50" mean more than the number.
    return number + 1 if plus or _MORE.search(size[: match.start()]) else number


def choose_text(stored: str | None, new: str | None, good_length: int) -> str | None:
    """The new text, unless it is shorter than `good_length` and than the stored one."""
    if not new or (stored and len(new) <= good_length and len(stored) > len(new)):
        return stored or new
    return new


def apply_findings(
    company: Company, findings: CompanyFindings, platforms: PlatformRules
) -> Company:
    """The company with new findings; a board that a person approved stays."""
    done = replace(
        company,
        tech_stack=list(findings.tech_stack) or company.tech_stack,
        ai_ml=findings.ai_ml,
        tier=findings.tier,
        priority_score=findings.priority_score,
        priority_items=list(findings.priority_items),
    )
    board = findings.board
    if board is None or (company.job_board_decision == "approved"):
        return done
    return replace(
        done,
        job_board_url=board.url,
        job_board_type=board.type,
        job_board_confidence=board.confidence,
        job_board_evidence=board.evidence,
        job_board_decision=company.job_board_decision
        if is_same_board(company, board, platforms)
        else None,
    )


def is_same_board(company: Company, board: CompanyBoard, platforms: PlatformRules) -> bool:
    """Whether the company's stored board is this one."""
    stored_url = company.job_board_url
    return stored_url is not None and platforms.canonical(stored_url) == platforms.canonical(
        board.url
    )


async def mark_analyzing(tx: Tx, id: int) -> None:
    """Mark the analysis as running; a complete record keeps its status."""
    await tx.execute(
        """
        UPDATE catalog.company SET analysis_status = 'analyzing'
         WHERE id = %s AND analysis_status <> 'complete'
        """,
        [id],
    )


async def lock_analyzing(tx: Tx) -> list[CompanyId]:
    """Lock the companies with an analysis that is marked as running, except rows locked by other
    transactions."""
    cursor = await tx.execute(
        """
        SELECT id FROM catalog.company WHERE analysis_status = 'analyzing'
         ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
        """
    )
    return [CompanyId(id) for (id,) in await cursor.fetchall()]


async def mark_unsuccessful(
    tx: Tx, *, id: int, status: Literal["sparse", "failed"], why: str
) -> None:
    """Record that an analysis found nothing; the results of an earlier one stay."""
    ended = await tx.execute(
        """
        UPDATE catalog.company
           SET analyzed_at = now(),
               analysis_status = CASE WHEN analysis_status = 'complete' THEN analysis_status
                                      ELSE %(status)s END
         WHERE id = %(id)s
        """,
        {"id": id, "status": status},
    )
    if ended.rowcount:
        await history.record(tx, "company", id, "not analyzed", status=status, why=why)


async def save(
    tx: Tx,
    *,
    id: int,
    status: Literal["complete", "sparse"],
    facts: CompanyFacts,
    findings: CompanyFindings,
    platforms: PlatformRules,
) -> None:
    """Store the results of an analysis, merged by `apply_facts` and `apply_findings`."""
    await tx.execute("SELECT FROM catalog.company WHERE id = %s FOR UPDATE", [id])
    company = apply_findings(apply_facts(await companies.get(tx, id), facts), findings, platforms)
    await _update(tx, company, status)
    await history.record(
        tx,
        "company",
        id,
        "analyzed",
        status=status,
        by=facts.extracted_by,
        tier=company.tier,
        score=company.priority_score,
        board=company.job_board_url,
    )


async def update_score(
    tx: Tx, company: Company, *, tier: Tier, points: int, items: Sequence[Mapping[str, Any]]
) -> bool:
    """Store a new score of an analyzed company; whether it differs from the stored one."""
    updated = await tx.execute(
        """
        UPDATE catalog.company
           SET tier = %(tier)s, priority_score = %(points)s, priority_items = %(items)s
         WHERE id = %(id)s
           AND (tier, priority_score, priority_items)
               IS DISTINCT FROM (%(tier)s, %(points)s, %(items)s::jsonb)
        """,
        {"id": company.id, "tier": tier, "points": points, "items": Jsonb(list(items))},
    )
    if (company.tier, company.priority_score) != (tier, points):
        await history.record(tx, "company", company.id, "scored again", tier=tier, score=points)
    return updated.rowcount > 0


async def find_pending(tx: Tx, limit: int) -> list[CompanyId]:
    """Companies that were never analyzed although they have open listings, oldest first."""
    cursor = await tx.execute(
        """
        SELECT id FROM catalog.company
         WHERE analysis_status = 'pending'
           AND EXISTS (SELECT FROM catalog.listing
                        WHERE listing.company_id = company.id AND closed_at IS NULL)
         ORDER BY id LIMIT %s
        """,
        [limit],
    )
    return [CompanyId(id) for (id,) in await cursor.fetchall()]


async def _update(tx: Tx, company: Company, status: AnalysisStatus) -> None:
    await tx.execute(
        """
        UPDATE catalog.company
           SET analysis_status = %(status)s, about = %(about)s, culture = %(culture)s,
               mission = %(mission)s, size = %(size)s,
               company_size_category = %(company_size_category)s,
               headquarters_location = %(headquarters_location)s, industry = %(industry)s,
               founded = %(founded)s, tech_stack = %(tech_stack)s, tier = %(tier)s,
               priority_score = %(priority_score)s, priority_items = %(priority_items)s, offices = %(offices)s,
               remote_first = %(remote_first)s, ai_ml = %(ai_ml)s, extracted_by = %(extracted_by)s,
               job_board_url = %(job_board_url)s, job_board_type = %(job_board_type)s,
               job_board_confidence = %(job_board_confidence)s, job_board_evidence = %(job_board_evidence)s,
               job_board_decision = %(job_board_decision)s,
               analyzed_at = now(), updated_at = now()
         WHERE id = %(id)s
        """,
        {
            **asdict(company),
            "status": status,
            "priority_items": Jsonb(company.priority_items),
        },
    )
