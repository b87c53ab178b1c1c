"""/profile/rules: rules proposed from dismissed matches, what each would hide, and the decision."""

from __future__ import annotations

import asyncio
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.db import CONNECTION_ERRORS, Database, Tx
from jobmill.errors import Invalid, NotFound
from jobmill.matching import profiles, proposed_rules
from jobmill.matching.profiles import ProfileVersion
from jobmill.matching.proposed_rules import DryRun, ProposedRule
from jobmill.people.persons import Owner
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db, RawDb
from jobmill.web.form import Fields
from jobmill.web.job_view import find_profile
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.shell import Page
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/profile")

MAX_SHOWN = 3
"""Rules on the page; the next ones follow when these are decided."""
DRY_RUN_SECONDS = 5.0


class ProposedRulesQuery(PageQuery):
    profile: ShortText | None = None
    done: ShortText | None = None
    """What was decided last: `accepted` or `declined`."""


class TriedRule(NamedTuple):
    rule: ProposedRule
    effect: str


@router.get("/rules")
async def show(
    query: Annotated[ProposedRulesQuery, Query()],
    visitor: Seeker,
    db: Db,
    page: Page,
    database: RawDb,
) -> HTMLResponse:
    async with db.transaction() as tx:
        version = await find_profile(tx, query.profile, visitor.owner)
        rules = await proposed_rules.find(tx, version) if version else []
    tried = [
        TriedRule(rule, _describe(await _try(database, version, rule)))
        for rule in rules[:MAX_SHOWN]
        if version
    ]
    return page(
        "profile/rules.html",
        version=version,
        tried=tried,
        left=len(rules) - len(tried),
        done=query.done,
    )


async def _try(database: Database, version: ProfileVersion, rule: ProposedRule) -> DryRun | None:
    """None if the newest matches could not be judged in time."""
    try:
        async with asyncio.timeout(DRY_RUN_SECONDS):
            return await proposed_rules.dry_run(
                database, version.profile_id, rule.profile, PLATFORM_RULES
            )
    except (*CONNECTION_ERRORS, TimeoutError):
        return None


def _describe(result: DryRun | None) -> str:
    if result is None:
        return say("Its effect could not be calculated in time.")
    hidden = say(
        "Would have hidden %(n)s of your last %(total)s matches",
        n=len(result.hidden),
        total=result.total,
    )
    if not result.hidden_kept:
        return say("%(hidden)s, none of which you kept.", hidden=hidden)
    kept = say_many("%(n)s of which you kept.", "%(n)s of which you kept.", result.hidden_kept)
    return f"{hidden}, {kept}"


@router.post("/rules")
async def decide(form: Fields, visitor: Seeker, db: Db, database: RawDb) -> Response:
    """Accept a rule, which saves a new version of the profile, or decline it."""
    decision, key = form.get("decision", ""), form.get("rule", "")
    if decision not in ("accepted", "declined"):
        raise Invalid(say("Accept the rule or decline it."))
    async with db.transaction() as tx:
        version, rule = await _find(tx, form.get("profile") or None, key, visitor.owner)
    by = visitor.name or visitor.actor.name
    result = await _try(database, version, rule) if decision == "accepted" else None
    async with db.transaction() as tx:
        if decision == "accepted":
            await proposed_rules.accept(tx, version, rule, result.hidden if result else (), by=by)
        else:
            await proposed_rules.decide(tx, version.profile_id, rule.key, "declined", by=by)
    return RedirectResponse(
        ProposedRulesQuery(profile=version.name, done=decision).url("/profile/rules"), 303
    )


async def _find(
    tx: Tx, profile: str | None, key: str, owner: Owner
) -> tuple[ProfileVersion, ProposedRule]:
    version = await profiles.get(tx, profile, owner=owner)
    for rule in await proposed_rules.find(tx, version):
        if rule.key == key:
            return version, rule
    raise NotFound("proposed rule", key)
