"""Companies and sites that the stop lists of all profiles exclude: nothing of them is requested."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jobmill.catalog.platform_rules import PlatformRules
from jobmill.db import Tx
from jobmill.matching import profiles
from jobmill.matching.profile import Profile
from jobmill.matching.rules import stop_lists

_RULES = ("excluded_company", "excluded_domain")


def explain_exclusion(
    active_profiles: Sequence[Profile],
    platforms: PlatformRules,
    *,
    names: Iterable[str | None],
    urls: Iterable[str | None] = (),
) -> str | None:
    """Why a company or site is excluded; None if a profile does not exclude it."""
    links = [url for url in urls if url]
    companies = [name for name in names if name] or [None]
    reasons: list[str] = []
    for profile in active_profiles:
        rejections = [
            rejection
            for company in companies
            for rejection in stop_lists.find_rejections(
                profile, platforms, urls=links, company=company
            )
            if rejection.rule in _RULES
        ]
        if not rejections:
            return None
        reasons.append(rejections[0].reason)
    return reasons[0] if reasons else None


async def find_exclusion(
    tx: Tx,
    platforms: PlatformRules,
    *,
    names: Iterable[str | None] = (),
    urls: Iterable[str | None] = (),
) -> str | None:
    """`explain_exclusion` by the profiles of everyone."""
    active_profiles = await profiles.read_active_of_everyone(tx)
    return explain_exclusion(active_profiles, platforms, names=names, urls=urls)
