"""/profile/rules: rules proposed from dismissed matches, what each would hide, and the decision."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import Invalid
from jobmill.matching import proposed_rules
from jobmill.matching.proposed_rules import DryRun, ProposedRule
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db, RawDb
from jobmill.web.form import Fields
from jobmill.web.job_view import find_profile
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.proposed_rule_trials import decide_rule, find_rule, try_rule
from jobmill.web.shell import Page
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/profile")

MAX_SHOWN = 3
"""Rules on the page; the next ones follow when these are decided."""


class ProposedRulesQuery(PageQuery):
    profile: ShortText | None = None
    done: ShortText | None = None
    """What was decided last: `accepted` or `declined`."""


class TriedRule(NamedTuple):
    rule: ProposedRule
    effect: str


@router.get("/rules")
async def show(
    query: Annotated[ProposedRulesQuery, Query()], visitor: Seeker, page: Page, database: RawDb
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        version = await find_profile(tx, query.profile, visitor.owner)
        rules = await proposed_rules.find(tx, version) if version else []
    dry_runs = [
        TriedRule(rule, _describe(await try_rule(database, version, rule)))
        for rule in rules[:MAX_SHOWN]
        if version
    ]
    return page(
        "profile/rules.html",
        version=version,
        dry_runs=dry_runs,
        left=len(rules) - len(dry_runs),
        done=query.done,
    )


def _describe(result: DryRun | None) -> str:
    if result is None:
        return say("Calculating its effect took too long. Reload the page to try again.")
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
        version, rule = await find_rule(tx, form.get("profile") or None, key, visitor.owner)
    dry_run = await try_rule(database, version, rule) if decision == "accepted" else None
    async with db.transaction() as tx:
        by = visitor.name or visitor.actor.name
        await decide_rule(tx, version, rule, decision, dry_run, by=by)
    return RedirectResponse(
        ProposedRulesQuery(profile=version.name, done=decision).url("/profile/rules"), 303
    )
