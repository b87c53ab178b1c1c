"""Try a proposed rule on the newest matches, and accept or decline it."""

from __future__ import annotations

import asyncio

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.db import CONNECTION_ERRORS, Database, Tx
from jobmill.errors import NotFound
from jobmill.matching import profiles, proposed_rules
from jobmill.matching.profiles import ProfileVersion
from jobmill.matching.proposed_rules import Decision, DryRun, ProposedRule
from jobmill.people.persons import Owner

DRY_RUN_SECONDS = 5.0


async def try_rule(
    database: Database, version: ProfileVersion, rule: ProposedRule
) -> DryRun | None:
    """None if the newest matches could not be judged in time."""
    try:
        async with asyncio.timeout(DRY_RUN_SECONDS):
            return await proposed_rules.dry_run(database, version, rule, PLATFORM_RULES)
    except (*CONNECTION_ERRORS, TimeoutError):
        return None


async def find_rule(
    tx: Tx, profile: str | None, key: str, owner: Owner
) -> tuple[ProfileVersion, ProposedRule]:
    """The proposed rule with this key; NotFound if it is not proposed, or no longer."""
    version = await profiles.get(tx, profile, owner=owner)
    for rule in await proposed_rules.find(tx, version):
        if rule.key == key:
            return version, rule
    raise NotFound("proposed rule", key)


async def decide_rule(
    tx: Tx,
    version: ProfileVersion,
    rule: ProposedRule,
    decision: Decision,
    tried: DryRun | None,
    *,
    by: str,
) -> None:
    """Accept the rule, which saves a new version of the profile and hides what it would have hidden, or
    decline it."""
    if decision == "accepted":
        await proposed_rules.accept(tx, version, rule, tried.hidden if tried else (), by=by)
    else:
        await proposed_rules.decide(tx, version.profile_id, rule.key, "declined", by=by)
