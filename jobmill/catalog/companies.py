"""Companies, and how complete their records are."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, LiteralString, NewType, TypeAlias

from jobmill.catalog import company_names, history, urls
from jobmill.db import Tx, fetch_all, fetch_value
from jobmill.errors import Invalid, NotFound

CompanyId = NewType("CompanyId", int)
AnalysisStatus: TypeAlias = Literal["pending", "analyzing", "complete", "sparse", "failed"]
Tier: TypeAlias = Literal["S", "A", "B", "C", "D"]
Confidence: TypeAlias = Literal["high", "medium", "low"]
SizeCategory: TypeAlias = Literal["large", "medium", "small"]
Completeness: TypeAlias = Literal["good", "minimal", "sparse"]

MAX_NAME_LENGTH = 300
"""A longer name is misplaced text, and does not fit into the index."""
MINIMAL_ABOUT_LENGTH, MINIMAL_CULTURE_LENGTH = 50, 25
"""Longer texts make a record minimal."""
GOOD_ABOUT_LENGTH, GOOD_CULTURE_LENGTH = 100, 50
"""Longer texts make a record good."""
REANALYZE_AFTER = dt.timedelta(days=30)
"""A good record younger than this is not analyzed again."""
BOARD_NEEDS_APPROVAL: LiteralString = """
    job_board_url IS NOT NULL AND job_board_decision IS NULL
    AND job_board_confidence IS DISTINCT FROM 'high'
    AND NOT EXISTS (SELECT FROM catalog.source WHERE source.company_id = company.id)
"""
"""`board_needs_approval` in SQL."""


@dataclass(frozen=True, slots=True)
class Company:
    id: CompanyId
    name: str
    website: str | None
    domain: str | None
    analysis_status: AnalysisStatus
    about: str | None
    culture: str | None
    mission: str | None
    size: str | None
    company_size_category: SizeCategory | None
    headquarters_location: str | None
    industry: str | None
    founded: str | None
    tech_stack: list[str] | None
    tier: Tier | None
    priority_score: int | None
    offices: list[str] | None
    remote_first: bool | None
    ai_ml: bool | None
    priority_items: list[dict[str, Any]] | None
    extracted_by: str | None
    """`heuristics`, or the name of the model."""
    job_board_url: str | None
    job_board_type: str | None
    job_board_confidence: Confidence | None
    job_board_evidence: str | None
    job_board_decision: Literal["approved", "rejected"] | None
    analyzed_at: dt.datetime | None
    """The end of the last analysis, successful or not."""
    created_at: dt.datetime
    updated_at: dt.datetime
    sources: int
    open_listings: int


def is_minimal(company: Company) -> bool:
    """Enough to show: name, website, and a short description or culture."""
    described = _is_longer(company.about, MINIMAL_ABOUT_LENGTH) or _is_longer(
        company.culture, MINIMAL_CULTURE_LENGTH
    )
    return bool(company.name and company.website and described)


def is_good(company: Company) -> bool:
    """Enough to judge by: name, website, a full description and culture."""
    described = _is_longer(company.about, GOOD_ABOUT_LENGTH) and _is_longer(
        company.culture, GOOD_CULTURE_LENGTH
    )
    return bool(company.name and company.website and described)


def is_up_to_date(company: Company, now: dt.datetime) -> bool:
    """Whether the record is good and younger than 30 days at `now` (server time), so that it is
    not analyzed again."""
    return is_good(company) and now - company.updated_at < REANALYZE_AFTER


def completeness(company: Company) -> Completeness:
    if is_good(company):
        return "good"
    return "minimal" if is_minimal(company) else "sparse"


def board_needs_approval(company: Company) -> bool:
    """Whether the board needs a person's approval: not certain, not decided, and not yet a source."""
    return (
        company.job_board_url is not None
        and company.job_board_decision is None
        and company.job_board_confidence != "high"
        and not company.sources
    )


def _is_longer(text: str | None, than: int) -> bool:
    return text is not None and len(text) > than


async def get_or_create(tx: Tx, name: str, website: str | None = None) -> CompanyId:
    """Return the company with this name and, if given, this website; create it if it is missing.

    Without a website, the oldest company with the name is returned. The website of a company known
    only by name is added later.
    """
    key = _name_key(name)
    if not key:
        raise Invalid(f"{name[:MAX_NAME_LENGTH]!r} is not a valid company name")
    domain = urls.domain(website) if website else None
    company_id = await _find(tx, key, domain)
    if company_id is None:
        # A concurrent transaction may create the company with another website, which the unique
        # constraint allows.
        await tx.execute("SELECT pg_advisory_xact_lock(hashtext('jobmill.company'), hashtext(%s))", [key])  # fmt: skip
        company_id = await _find(tx, key, domain)
    if company_id is None:
        return await _create(tx, name, key, website, domain)
    if website:
        await add_site(tx, company_id, website)
    return company_id


async def get_or_create_all(tx: Tx, names: Sequence[str]) -> Mapping[str, CompanyId]:
    """The ids of the companies with these names; invalid names are left out."""
    # Sorted by key, so that two transactions with the same names cannot deadlock.
    keyed = sorted((_name_key(name), name) for name in set(names))
    return {name: await get_or_create(tx, name) for key, name in keyed if key}


def _name_key(name: str) -> str:
    return company_names.company_key(name) if len(name) <= MAX_NAME_LENGTH else ""


async def _find(tx: Tx, key: str, domain: str | None) -> CompanyId | None:
    return await fetch_value(
        tx,
        CompanyId,
        """
        SELECT id FROM catalog.company
         WHERE key = %(key)s
           AND (%(domain)s::text IS NULL OR domain IS NULL OR domain = %(domain)s)
         ORDER BY (domain IS NOT DISTINCT FROM %(domain)s) DESC, id
         LIMIT 1
        """,
        {"key": key, "domain": domain},
    )


async def _create(
    tx: Tx, name: str, key: str, website: str | None, domain: str | None
) -> CompanyId:
    created = await fetch_value(
        tx,
        CompanyId,
        """
        INSERT INTO catalog.company (name, key, website, domain)
        VALUES (%(name)s, %(key)s, %(website)s, %(domain)s)
        ON CONFLICT ON CONSTRAINT company_once DO NOTHING
        RETURNING id
        """,
        {
            "name": company_names.display_name(name),
            "key": key,
            "website": website,
            "domain": domain,
        },
    )
    if created is not None:
        await history.record(tx, "company", created, "created", name=name)
        return created
    # A concurrent transaction created it and has committed by now.
    existing_id = await _find(tx, key, domain)
    assert existing_id is not None
    return existing_id


async def add_site(tx: Tx, id: CompanyId, website: str) -> bool:
    """Store the website of a company that has none, and let it be analyzed again if it was sparse
    without one; False if it has one, or if another company with its name has this one."""
    added = await tx.execute(
        """
        UPDATE catalog.company AS company
           SET website = %(website)s, domain = %(domain)s, updated_at = now(),
               analysis_status = CASE WHEN analysis_status = 'sparse' THEN 'pending'
                                      ELSE analysis_status END
         WHERE id = %(id)s AND domain IS NULL
           AND NOT EXISTS (SELECT 1 FROM catalog.company AS other
                            WHERE other.key = company.key AND other.domain = %(domain)s)
        """,
        {"id": id, "website": website, "domain": urls.domain(website)},
    )
    if added.rowcount:
        await history.record(tx, "company", id, "website learned", website=website)
    return added.rowcount > 0


async def get(tx: Tx, id: int, *, with_counts: bool = True) -> Company:
    """Return one company; raises NotFound. Callers in a loop over listings skip the counts."""
    companies = await find(tx, id=id, limit=1, with_counts=with_counts)
    if not companies:
        raise NotFound("company", id)
    return companies[0]


async def find(
    tx: Tx,
    *,
    id: int | None = None,
    ids: Sequence[int] | None = None,
    q: str | None = None,
    tier: Tier | None = None,
    needs_approval: bool = False,
    scored: bool = False,
    after: int = 0,
    limit: int = 50,
    with_counts: bool = True,
) -> list[Company]:
    """Find companies, oldest first. `needs_approval`: only those with a board that `approvals`
    lists; `scored`: only those with a tier."""
    return await fetch_all(
        tx,
        Company,
        f"""
        SELECT id, name, website, domain, analysis_status, about, culture, mission, size,
               company_size_category, headquarters_location, industry, founded, tech_stack, tier,
               priority_score, offices, remote_first, ai_ml, priority_items, extracted_by,
               job_board_url, job_board_type, job_board_confidence, job_board_evidence,
               job_board_decision, analyzed_at, created_at, updated_at,
               (SELECT count(*)::int FROM catalog.source
                 WHERE %(counted)s AND source.company_id = company.id) AS sources,
               (SELECT count(*)::int FROM catalog.listing
                 WHERE %(counted)s AND listing.company_id = company.id
                   AND closed_at IS NULL) AS open_listings
          FROM catalog.company
         WHERE id > %(after)s
           AND (%(id)s::bigint IS NULL OR id = %(id)s)
           AND (%(ids)s::bigint[] IS NULL OR id = ANY(%(ids)s))
           AND (%(q)s::text IS NULL OR position(lower(%(q)s) IN lower(name)) > 0)
           AND (%(tier)s::text IS NULL OR tier = %(tier)s)
           AND (NOT %(scored)s OR tier IS NOT NULL)
           AND (NOT %(waiting)s OR {BOARD_NEEDS_APPROVAL})
         ORDER BY id
         LIMIT %(limit)s
        """,
        {
            "id": id,
            "ids": None if ids is None else list(ids),
            "q": q,
            "tier": tier,
            "waiting": needs_approval,
            "scored": scored,
            "after": after,
            "limit": limit,
            "counted": with_counts,
        },
    )


async def find_open_titles(tx: Tx, names: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """The titles of the newest open listings by name of the company, for companies that have some."""
    names_by_key = {_name_key(name): name for name in names}
    cursor = await tx.execute(
        """
        SELECT company.key, array_agg(DISTINCT newest.title)
          FROM catalog.company
         CROSS JOIN LATERAL (SELECT title FROM catalog.listing
                              WHERE company_id = company.id AND closed_at IS NULL AND NOT private
                                AND title IS NOT NULL
                              ORDER BY first_seen_at DESC LIMIT 100) AS newest
         WHERE company.key = ANY (%s)
         GROUP BY company.key
        """,
        [list(names_by_key)],
    )
    return {names_by_key[key]: titles for key, titles in await cursor.fetchall()}


async def get_by_name(tx: Tx, name: str) -> Company:
    """Return the company with this name; raises NotFound."""
    company_id = await _find(tx, company_names.company_key(name), None)
    if company_id is None:
        raise NotFound("company", name)
    return await get(tx, company_id)


async def find_website_by_name(tx: Tx, name: str) -> str | None:
    """The website of the only company with this name that has one, ignoring spaces in names."""
    cursor = await tx.execute(
        """
        SELECT DISTINCT ON (domain) website FROM catalog.company
         WHERE replace(key, ' ', '') = %s AND website IS NOT NULL
         ORDER BY domain, id LIMIT 2
        """,
        [company_names.compact_key(name)],
    )
    rows = await cursor.fetchall()
    return rows[0][0] if len(rows) == 1 else None


@dataclass(frozen=True, slots=True)
class CompanyPosting:
    """The parts of a listing that may tell the website of its company."""

    url: str
    apply_url: str | None
    description: str | None


async def find_postings(tx: Tx, id: CompanyId, *, limit: int) -> list[CompanyPosting]:
    """The company's newest listings."""
    return await fetch_all(
        tx,
        CompanyPosting,
        """
        SELECT url, apply_url, description FROM catalog.listing
         WHERE company_id = %s ORDER BY id DESC LIMIT %s
        """,
        [id, limit],
    )
