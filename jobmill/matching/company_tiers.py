"""Keeps the tiers and scores of analyzed companies in step with the default profiles.

The catalog is shared: a company counts as much as the default profile that it suits best. The reasons
come from that profile, which may be another person's, so pages compute them again for the visitor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from jobmill.catalog import companies, company_analyses
from jobmill.catalog.companies import Company
from jobmill.db import Tx
from jobmill.matching.profile import Profile
from jobmill.matching.rules import company_score
from jobmill.matching.rules.company_score import CompanyScore
from jobmill.matching.rules.tech_stack import TechStack

BATCH_SIZE = 500
_AI_ITEM = "AI/ML"


def score_stored(company: Company, profile: Profile) -> CompanyScore:
    """Score a company by its stored facts."""
    stack = TechStack(tuple(company.tech_stack or ()), _ai_words(company))
    return company_score.score_company(company, stack, profile)


def _ai_words(company: Company) -> tuple[str, ...]:
    """The words that showed the focus on machine learning when the company was analyzed."""
    if not company.ai_ml:
        return ()
    for item in company.priority_items or ():
        if item["name"] == _AI_ITEM and item["words"]:
            return tuple(item["words"])
    return (_AI_ITEM,)


async def lock_for_analysis(tx: Tx) -> None:
    """Before the end of an analysis: wait for a change of the profile that is under way, so that the
    analysis uses either the new profile or is scored again by the change."""
    await tx.execute("SELECT pg_advisory_xact_lock_shared(hashtext('jobmill.tiers'))")


def score_best(company: Company, profiles: Sequence[Profile]) -> CompanyScore:
    """The best score of a company by its stored facts; `profiles` must not be empty."""
    return max(
        (score_stored(company, profile) for profile in profiles), key=lambda score: score.points
    )


async def rescore_companies(tx: Tx, profiles: Sequence[Profile]) -> int:
    """Score every analyzed company for the default profiles; returns how many tiers or scores changed."""
    await tx.execute("SELECT pg_advisory_xact_lock(hashtext('jobmill.tiers'))")
    changed, after = 0, 0
    while True:
        batch = await companies.find(
            tx, after=after, limit=BATCH_SIZE, with_counts=False, scored=True
        )
        if not batch:
            return changed
        for company in batch:
            changed += await rescore_company(tx, company, profiles)
        after = batch[-1].id


async def rescore_company(tx: Tx, company: Company, profiles: Sequence[Profile]) -> bool:
    """Score one company for the default profiles; whether something changed."""
    score = score_best(company, profiles)
    items: list[dict[str, Any]] = [asdict(item) for item in score.items]
    return await company_analyses.update_score(
        tx, company, tier=score.tier, points=score.points, items=items
    )
