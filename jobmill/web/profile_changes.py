"""Save a new version of a profile and queue what it scores differently; pause and resume scoring."""

from __future__ import annotations

from jobmill.db import Database, Tx
from jobmill.errors import NotFound
from jobmill.matching import judging_feed, profiles
from jobmill.matching.profile import Profile, scores_alike
from jobmill.matching.profiles import ProfileVersion, SavedProfile
from jobmill.people.persons import Owner
from jobmill.queue.feed import notify_feeds
from jobmill.web.auth import Visitor
from jobmill.web.dependencies import RequestDatabase
from jobmill.web.profile_preview import ProfilePreview, preview

SAVE_SECONDS = 60.0
"""Saving and resuming may queue every open listing for scoring."""


async def find_current(tx: Tx, name: str, owner: Owner) -> ProfileVersion | None:
    """The newest version of the named profile; None if there is no such profile."""
    try:
        return await profiles.get(tx, name, owner=owner)
    except NotFound:
        return None


async def preview_change(
    db: RequestDatabase, database: Database, name: str, profile: Profile, owner: Owner
) -> ProfilePreview | None:
    """What a new version would score differently; None for a new profile, which scores everything,
    and for a change of the master resume alone, which cannot change a score."""
    async with db.transaction() as tx:
        current = await find_current(tx, name, owner)
    if current is None or scores_alike(current.profile(), profile):
        return None
    return await preview(database, current.profile_id, profile)


async def save_version(
    tx: Tx,
    name: str,
    profile: Profile,
    visitor: Visitor,
    *,
    effect: ProfilePreview | None = None,
    note: str | None = None,
    resume: str | None = None,
    based_on: int | None = None,
) -> SavedProfile:
    """Save a new version. A first version is scored for all open listings; a later one only with an
    `effect`: then changed listings are queued, or all if there were too many to preview."""
    by = visitor.name or visitor.actor.name
    saved = await profiles.save(
        tx, name, profile, owner=visitor.owner, by=by, note=note, resume=resume, based_on=based_on
    )
    await judging_feed.add_for_new_profile(tx, saved)
    if saved.changed and effect:
        if effect.complete:
            await judging_feed.add(tx, effect.changed_listings, profile_id=saved.profile_id)
        else:
            await judging_feed.add_open(tx, saved.profile_id)
        await notify_feeds(tx)
    return saved


async def resume_scoring(tx: Tx, version: ProfileVersion) -> None:
    """End the pause of a profile, and queue what it missed."""
    if await profiles.resume(tx, version.name, owner=version.owner_id):
        await judging_feed.add_unjudged(tx, version.profile_id)
        await notify_feeds(tx)
