"""/api/profiles: what a person can do and wants, its versions, and rules proposed from triage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from jobmill.db import Tx
from jobmill.matching import judging_feed, profile_document, profiles, proposed_rules
from jobmill.matching.profile import Profile
from jobmill.matching.profiles import ProfileVersion
from jobmill.matching.proposed_rules import Decision, DryRun, ProposedRule
from jobmill.people.persons import Owner
from jobmill.web import profile_changes, resume_upload
from jobmill.web.api.callers import ApiCaller, SeekerCaller
from jobmill.web.api.etags import SeenVersion
from jobmill.web.api.openapi import BINARY, NEVER_MISSING, file_body, problems
from jobmill.web.api.pagination import json_response
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import RawDb
from jobmill.web.parameters import PLAIN_TEXT, OutputTime
from jobmill.web.profile_preview import preview
from jobmill.web.proposed_rule_trials import decide_rule, find_rule, try_rule
from jobmill.web.rate_limits import limit_scoring

router = APIRouter(prefix="/profiles", tags=["profiles"])

COUNT_LIMIT = 10_000
MAX_RULES = 3
"""Rules in a response; each is tried on the newest matches."""
MAX_PREVIEW = 300
"""The newest open listings that a preview scores."""

Name = Annotated[
    str, Path(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$", examples=["main"], description="Of a profile.")
]
Version = Annotated[int, Path(ge=1, le=2**31 - 1)]
RuleKey = Annotated[str, Path(min_length=1, max_length=300, pattern=r"^[^\x00]*$")]
SAMPLE = {"titles": ["Pump Engineer"], "skills": [{"name": "Python", "rank": "primary"}]}
ProfileDocument = Annotated[dict[str, Any], Field(examples=[SAMPLE])]
"""As in a profile file, with the names that docs/reference/profile.md lists."""

RESUME_BODY = file_body(
    "application/octet-stream",
    BINARY | {"example": "Ada Lovelace\\nPump engineer with 10 years of Python"},
)


Change: TypeAlias = Callable[[Tx, ProfileVersion], Awaitable[None]]


class ProfileItem(Schema):
    name: Annotated[str, Field(examples=["main"])]
    version: int
    is_default: bool
    saved_at: OutputTime
    saved_by: str | None
    paused_at: OutputTime | None


class ProfileList(Schema):
    items: list[ProfileItem]


class ProfileVersionItem(Schema):
    name: Annotated[str, Field(examples=["main"])]
    version: int
    saved_at: OutputTime
    saved_by: str | None
    note: str | None


class ProfileVersionList(Schema):
    items: list[ProfileVersionItem]


class ProfileVersionRecord(ProfileVersionItem):
    profile: ProfileDocument
    """With every default, as it is used."""


class ProfileRecord(ProfileVersionRecord):
    is_default: bool
    paused_at: OutputTime | None
    waiting: int
    """Jobs that wait to be scored, counted up to 10,000."""


class ProfileBody(RequestBody):
    profile: ProfileDocument
    note: Annotated[str, Field(max_length=500), PLAIN_TEXT] | None = None
    """Kept with the version."""
    rescore: bool = True
    """Whether jobs that the new version decides differently are scored again."""


class PreviewBody(RequestBody):
    profile: ProfileDocument


class PreviewChange(Schema):
    listing_id: Annotated[int, Field(examples=[1])]
    title: str | None
    company: str | None
    kind: Annotated[str, Field(examples=["in"])]
    """`in`: becomes a match; `out`: is none any more; `moved`: another score; `other`."""
    score_before: int | None
    score_after: int | None


class PreviewResult(Schema):
    scored: Annotated[int, Field(examples=[300])]
    complete: bool
    """Whether all open jobs were scored, not only the newest."""
    changes: list[PreviewChange]


class ResumeDraftRecord(Schema):
    profile: ProfileDocument
    missing: list[str]
    """What the resume says nothing about."""


class ProposedRuleItem(Schema):
    key: Annotated[str, Field(examples=["company:wells"])]
    text: str
    dismissals: int
    """Dismissed matches that it is proposed from."""
    tried: int | None
    """The newest matches that it was tried on; null if that took too long."""
    hidden: int | None
    """How many of them it would have hidden."""
    hidden_kept: int | None
    """How many of those were not dismissed."""


class ProposedRuleList(Schema):
    items: list[ProposedRuleItem]
    total: int
    """All proposed rules; the next ones follow when these are decided."""


class RuleDecisionBody(RequestBody):
    decision: Annotated[Decision, Field(examples=["accepted"])]


async def _read(tx: Tx, name: str, owner: Owner) -> ProfileRecord:
    version = await profiles.get(tx, name, owner=owner)
    summaries = await profiles.find_all(tx, owner=owner)
    summary = next(summary for summary in summaries if summary.name == name)
    waiting = await judging_feed.count(tx, version.profile_id, limit=COUNT_LIMIT)
    return ProfileRecord.of(
        version,
        profile=version.profile().model_dump(mode="json"),
        is_default=summary.is_default,
        paused_at=summary.paused_at,
        waiting=waiting,
    )


def _parse(document: dict[str, Any]) -> Profile:
    return profile_document.validate(document, "profile")


@router.get("", response_model=ProfileList)
async def list_profiles(caller: SeekerCaller) -> Response:
    """Your profiles."""
    async with caller.db.transaction() as tx:
        summaries = await profiles.find_all(tx, owner=caller.owner)
    return caller.respond(ProfileList.of(items=summaries))


@router.post("/draft", response_model=ResumeDraftRecord, openapi_extra=RESUME_BODY)
async def draft_profile(request: Request, visitor: Seeker) -> Response:
    """Read a profile from a resume (PDF, Word, Markdown or text) in the body; nothing is saved."""
    limit_scoring(request, visitor)
    draft = await resume_upload.read_resume(await request.body(), "resume")
    document = draft.profile.model_dump(mode="json", exclude_unset=True)
    return json_response(request, ResumeDraftRecord(profile=document, missing=list(draft.missing)))


@router.get("/{name}", response_model=ProfileRecord)
async def show_profile(name: Name, caller: SeekerCaller) -> Response:
    """The newest version of a profile."""
    async with caller.db.transaction() as tx:
        record = await _read(tx, name, caller.owner)
    return caller.respond(record, version=record.version)


@router.put(
    "/{name}", response_model=ProfileRecord, responses=problems(412), openapi_extra=NEVER_MISSING
)
async def save_profile(
    name: Name, body: ProfileBody, caller: SeekerCaller, database: RawDb, based_on: SeenVersion
) -> Response:
    """Save a profile as a new version, or create it. All open jobs are scored for a new profile."""
    profile = _parse(body.profile)
    effect = (
        await profile_changes.preview_change(caller.db, database, name, profile, caller.owner)
        if body.rescore
        else None
    )

    async def work(tx: Tx) -> ProfileRecord:
        await profile_changes.save_version(
            tx,
            name,
            profile,
            caller.visitor,
            effect=effect,
            note=body.note or None,
            based_on=based_on,
        )
        return await _read(tx, name, caller.owner)

    seconds = profile_changes.SAVE_SECONDS
    return await caller.run_once(work, time_limit=seconds)


@router.post("/{name}/preview", response_model=PreviewResult)
async def preview_profile(
    name: Name, body: PreviewBody, caller: SeekerCaller, database: RawDb
) -> Response:
    """What a changed profile would decide differently about the newest jobs; nothing is saved."""
    limit_scoring(caller.request, caller.visitor)
    async with caller.db.transaction() as tx:
        version = await profiles.get(tx, name, owner=caller.owner)
    changed = _parse(body.profile)
    effect = await preview(database, version.profile_id, changed, max_listings=MAX_PREVIEW)
    changes = [
        PreviewChange.of(change, score_before=change.before.score, score_after=change.after.score)
        for change in effect.changes
    ]
    return caller.respond(PreviewResult.of(effect, changes=changes))


@router.get("/{name}/versions", response_model=ProfileVersionList)
async def list_profile_versions(name: Name, caller: SeekerCaller) -> Response:
    """All versions, newest first."""
    async with caller.db.transaction() as tx:
        await profiles.get(tx, name, owner=caller.owner)
        versions = await profiles.read_versions(tx, name, owner=caller.owner)
    return caller.respond(ProfileVersionList.of(items=versions))


@router.get("/{name}/versions/{version}", response_model=ProfileVersionRecord)
async def show_profile_version(name: Name, version: Version, caller: SeekerCaller) -> Response:
    """One version of a profile."""
    async with caller.db.transaction() as tx:
        stored = await profiles.get(tx, name, owner=caller.owner, version=version)
    profile = stored.profile().model_dump(mode="json")
    return caller.respond(ProfileVersionRecord.of(stored, profile=profile))


@router.post("/{name}/pause", response_model=ProfileRecord)
async def pause_profile(name: Name, caller: SeekerCaller) -> Response:
    """Score no jobs for a profile until it is resumed."""

    async def change(tx: Tx, version: ProfileVersion) -> None:
        await profiles.pause(tx, version.name, owner=version.owner_id)

    return await _change(name, caller, change)


@router.post("/{name}/resume", response_model=ProfileRecord)
async def resume_profile(name: Name, caller: SeekerCaller) -> Response:
    """Score jobs for a profile again, also those that it missed."""
    return await _change(name, caller, profile_changes.resume_scoring)


@router.post("/{name}/default", response_model=ProfileRecord)
async def make_default_profile(name: Name, caller: SeekerCaller) -> Response:
    """Make a profile the default one."""

    async def change(tx: Tx, version: ProfileVersion) -> None:
        by = caller.actor.name
        await profiles.set_default(tx, version.name, owner=version.owner_id, by=by)

    return await _change(name, caller, change)


async def _change(name: str, caller: ApiCaller, change: Change) -> Response:
    async def work(tx: Tx) -> ProfileRecord:
        await change(tx, await profiles.get(tx, name, owner=caller.owner))
        return await _read(tx, name, caller.owner)

    seconds = profile_changes.SAVE_SECONDS
    return await caller.run_once(work, time_limit=seconds)


@router.get("/{name}/proposed-rules", response_model=ProposedRuleList, responses=problems(429))
async def list_proposed_rules(name: Name, caller: SeekerCaller, database: RawDb) -> Response:
    """Rules that your dismissals suggest, and what each would have hidden."""
    limit_scoring(caller.request, caller.visitor)
    async with caller.db.transaction() as tx:
        version = await profiles.get(tx, name, owner=caller.owner)
        rules = await proposed_rules.find(tx, version)
    items = [_rule(rule, await try_rule(database, version, rule)) for rule in rules[:MAX_RULES]]
    return caller.respond(ProposedRuleList(items=items, total=len(rules)))


def _rule(rule: ProposedRule, tried: DryRun | None) -> ProposedRuleItem:
    return ProposedRuleItem.of(
        rule,
        tried=tried.total if tried else None,
        hidden=len(tried.hidden) if tried else None,
        hidden_kept=tried.hidden_kept if tried else None,
    )


@router.post("/{name}/proposed-rules/{key}", response_model=ProfileRecord)
async def decide_proposed_rule(
    name: Name, key: RuleKey, body: RuleDecisionBody, caller: SeekerCaller, database: RawDb
) -> Response:
    """Accept a rule, which saves a new version of the profile, or decline it."""
    async with caller.db.transaction() as tx:
        version, rule = await find_rule(tx, name, key, caller.owner)
    tried = await try_rule(database, version, rule) if body.decision == "accepted" else None

    async def work(tx: Tx) -> ProfileRecord:
        by = caller.visitor.name or caller.actor.name
        await decide_rule(tx, version, rule, body.decision, tried, by=by)
        return await _read(tx, name, caller.owner)

    return await caller.run_once(work)
