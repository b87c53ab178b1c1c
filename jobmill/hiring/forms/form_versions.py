"""The versions of an opening's form: a change adds a version, and old applications keep theirs."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all
from jobmill.errors import Conflict
from jobmill.hiring.actor import Actor
from jobmill.hiring.audit_log import hash_chain
from jobmill.hiring.forms.form_fields import EMPTY_FORM, ApplicationForm, add_keys, parse_form
from jobmill.hiring.records import openings
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers


@dataclass(frozen=True, slots=True)
class FormVersion:
    version: int
    """0: the opening has never had a form."""
    form: ApplicationForm


@dataclass(frozen=True, slots=True)
class FormRefusal:
    """How often an answer has ended an application."""

    field_key: str
    refusals: int
    last_at: dt.datetime


async def find_current(tx: Tx, opening_id: int) -> FormVersion:
    """The form that applicants see now; raises OpeningNotFound."""
    opening = await openings.get(tx, opening_id)
    versions = await find_versions(tx, opening_id, [opening.form_version])
    return FormVersion(opening.form_version, versions.get(opening.form_version, EMPTY_FORM))


async def find_versions(
    tx: Tx, opening_id: int, versions: Collection[int] | None = None
) -> dict[int, ApplicationForm]:
    """Some versions of the form, or all, oldest first."""
    cursor = await tx.execute(
        """
        SELECT version, fields FROM hiring.application_form
         WHERE opening_id = %(opening)s
           AND (%(versions)s::int[] IS NULL OR version = ANY (%(versions)s))
         ORDER BY version
        """,
        {"opening": opening_id, "versions": None if versions is None else list(versions)},
    )
    return {version: parse_form({"fields": fields}) for version, fields in await cursor.fetchall()}


async def save_form(
    tx: Tx, opening_id: int, form: ApplicationForm, by: Actor, *, based_on: int | None = None
) -> FormVersion:
    """Add a version, unless the form is the current one.

    `based_on` is the version that the editor saw; raises Conflict if there is a newer one.
    """
    async with lock_and_expire_offers(tx, opening_id, by) as locked:
        openings.refuse_interview_time(locked.opening)
        current = locked.opening.form_version
        versions = await find_versions(tx, opening_id)
        used = {field.key for version in versions.values() for field in version.fields}
        before = versions.get(current, EMPTY_FORM)
        form = add_keys(form, before, used)
        if form == before:
            # Also if the same change was saved by an earlier request, and its answer was lost.
            return FormVersion(current, form)
        if based_on is not None and based_on != current:
            raise Conflict(
                "The form was changed meanwhile. Reload the page to see the new version."
            )
        version = max(versions, default=0) + 1
        fields = form.list_fields()
        await tx.execute(
            """
            INSERT INTO hiring.application_form (opening_id, version, fields, created_at)
            VALUES (%s, %s, %s, %s)
            """,
            [opening_id, version, json.dumps(fields), locked.at],
        )
        await openings.update_form(
            tx, locked.opening.id, version, is_required=form.has_required_field
        )
        digest = hash_chain.digest_form(fields)
        metadata = {"version": version, "questions": len(fields), "sha256": digest}
        locked.record_opening_event("FORM_CHANGED", metadata)
    return FormVersion(version, form)


async def record_refusal(tx: Tx, opening_id: int, version: int, key: str) -> None:
    """Count that an answer ended an application. Not in the audit log, which strangers could fill."""
    await tx.execute(
        """
        INSERT INTO hiring.form_refusal AS existing
               (opening_id, form_version, field_key, refusals, last_at)
        VALUES (%s, %s, %s, 1, now())
        ON CONFLICT (opening_id, form_version, field_key)
        DO UPDATE SET refusals = existing.refusals + 1, last_at = excluded.last_at
        """,
        [opening_id, version, key],
    )


async def count_refusals(tx: Tx, opening_id: int) -> Mapping[str, FormRefusal]:
    """By key, in all versions together."""
    refusals = await fetch_all(
        tx,
        FormRefusal,
        """
        SELECT field_key, sum(refusals)::int AS refusals, max(last_at) AS last_at
          FROM hiring.form_refusal WHERE opening_id = %s GROUP BY field_key
        """,
        [opening_id],
    )
    return {refusal.field_key: refusal for refusal in refusals}
