"""Companies: who offers listings, and how much we know of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NewType, TypeAlias

from jobmill.catalog import company_names, history, urls
from jobmill.catalog.company_sizes import SizeCategory
from jobmill.db import Tx, fetch_all, fetch_value
from jobmill.errors import Invalid, NotFound

CompanyId = NewType("CompanyId", int)
AnalysisStatus: TypeAlias = Literal["pending", "analyzing", "complete", "sparse", "failed"]
Tier: TypeAlias = Literal["S", "A", "B", "C", "D"]
Confidence: TypeAlias = Literal["high", "medium", "low"]
Completeness: TypeAlias = Literal["good", "minimal", "sparse"]

MAX_NAME_LENGTH = 300
"""What is longer is a text that stood where a name should, and fits into no index."""
MINIMAL_ABOUT_LENGTH, MINIMAL_CULTURE_LENGTH = 50, 25
"""Longer texts say something."""
GOOD_ABOUT_LENGTH, GOOD_CULTURE_LENGTH = 100, 50
"""Longer texts are enough to judge by."""
REANALYZE_AFTER = dt.timedelta(days=30)
"""A good record younger than this is not analysed again."""


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
    """`heuristics`, or the model."""
    job_board_url: str | None
    job_board_type: str | None
    job_board_confidence: Confidence | None
    job_board_evidence: str | None
    job_board_decision: Literal["approved", "rejected"] | None
    analyzed_at: dt.datetime | None
    """When its last analysis ended, whatever it found."""
    created_at: dt.datetime
    updated_at: dt.datetime
    sources: int
    open_listings: int


def is_minimal(company: Company) -> bool:
    """Enough to say something: name, website, and a little about it or its culture."""
    told = _longer(company.about, MINIMAL_ABOUT_LENGTH) or _longer(
        company.culture, MINIMAL_CULTURE_LENGTH
    )
    return bool(company.name and company.website and told)


def is_good(company: Company) -> bool:
    """Enough to judge by: name, website, a real description and its culture."""
    told = _longer(company.about, GOOD_ABOUT_LENGTH) and _longer(
        company.culture, GOOD_CULTURE_LENGTH
    )
    return bool(company.name and company.website and told)


def is_up_to_date(company: Company, now: dt.datetime) -> bool:
    """Good, and younger than 30 days at `now`, the server's time: it is not analysed again."""
    return is_good(company) and now - company.updated_at < REANALYZE_AFTER


def completeness(company: Company) -> Completeness:
    """In one word, how much we know."""
    if is_good(company):
        return "good"
    return "minimal" if is_minimal(company) else "sparse"


def board_needs_approval(company: Company) -> bool:
    """Whether its board waits for a person: it is not sure, nobody decided, and nothing is a source."""
    return (
        company.job_board_url is not None
        and company.job_board_decision is None
        and company.job_board_confidence != "high"
        and not company.sources
    )


def _longer(text: str | None, than: int) -> bool:
    return text is not None and len(text) > than


async def get_or_create(tx: Tx, name: str, website: str | None = None) -> CompanyId:
    """The company by its name and, where known, its site; a new one holds nothing else.

    A company known by name only is the first that has the name; its site is added when it is learnt.
    """
    key = _key(name)
    if not key:
        raise Invalid(f"{name[:MAX_NAME_LENGTH]!r} is no name of a company")
    domain = urls.domain(website) if website else None
    found = await _find(tx, key, domain)
    if found is None:
        # Whoever makes it at the same time may give it a site, so that no constraint sees us both.
        await tx.execute("SELECT pg_advisory_xact_lock(hashtext('jobmill.company'), hashtext(%s))", [key])  # fmt: skip
        found = await _find(tx, key, domain)
    if found is None:
        return await _create(tx, name, key, website, domain)
    if domain:
        await _add_site(tx, found, website, domain)
    return found


async def get_or_create_all(tx: Tx, wanted: Sequence[str]) -> Mapping[str, CompanyId]:
    """The companies of these names; names that name nobody are left out."""
    # In order of their keys, so that two who name the same ones never wait for each other.
    keyed = sorted((_key(name), name) for name in set(wanted))
    return {name: await get_or_create(tx, name) for key, name in keyed if key}


def _key(name: str) -> str:
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
    # Somebody else was quicker; what they made is committed by now.
    found = await _find(tx, key, domain)
    assert found is not None
    return found


async def _add_site(tx: Tx, id: CompanyId, website: str | None, domain: str) -> None:
    await tx.execute(
        """
        UPDATE catalog.company AS company
           SET website = %(website)s, domain = %(domain)s, updated_at = now()
         WHERE id = %(id)s AND domain IS NULL
           AND NOT EXISTS (SELECT 1 FROM catalog.company AS other
                            WHERE other.key = company.key AND other.domain = %(domain)s)
        """,
        {"id": id, "website": website, "domain": domain},
    )


async def get(tx: Tx, id: int, *, with_counts: bool = True) -> Company:
    """One company; NotFound if there is none. Without counts, for those who ask for each listing."""
    found = await find(tx, id=id, limit=1, with_counts=with_counts)
    if not found:
        raise NotFound("company", id)
    return found[0]


async def find(
    tx: Tx,
    *,
    id: int | None = None,
    ids: Sequence[int] | None = None,
    q: str | None = None,
    tier: Tier | None = None,
    needs_approval: bool = False,
    after: int = 0,
    limit: int = 50,
    with_counts: bool = True,
) -> list[Company]:
    """Companies by any of these, in the order in which they came; `waiting` are those whose board
    waits for a person, as in `approvals`."""
    return await fetch_all(
        tx,
        Company,
        """
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
           AND (NOT %(waiting)s
                OR job_board_url IS NOT NULL AND job_board_decision IS NULL
                   AND job_board_confidence IS DISTINCT FROM 'high'
                   AND NOT EXISTS (SELECT FROM catalog.source
                                    WHERE source.company_id = company.id))
         ORDER BY id
         LIMIT %(limit)s
        """,
        {
            "id": id,
            "ids": None if ids is None else list(ids),
            "q": q,
            "tier": tier,
            "waiting": needs_approval,
            "after": after,
            "limit": limit,
            "counted": with_counts,
        },
    )


async def get_by_name(tx: Tx, name: str) -> Company:
    """The company of that name, or with that number."""
    found = await _find(tx, company_names.company_key(name), None)
    if found is None:
        raise NotFound("company", name)
    return await get(tx, found)
