"""Letters in the company's own words: every saved version, for all openings or for one."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from psycopg.errors import ForeignKeyViolation

from jobmill.db import Tx, fetch_all, fetch_one
from jobmill.errors import Conflict, Invalid
from jobmill.hiring.actor import Actor
from jobmill.hiring.messages.letter_variables import VARIABLES, LetterText, check_variables
from jobmill.hiring.records.openings import OpeningNotFound

MAX_SUBJECT_LENGTH = 200
MAX_BODY_LENGTH = 20_000
MAX_VERSIONS = 50
"""Versions in the history of a letter."""


@dataclass(frozen=True, slots=True)
class TemplateVersion:
    letter: str
    opening_id: int | None
    """None: of all openings."""
    version: int
    subject: str | None
    """None, like the body: back to the default."""
    body: str | None
    saved_at: dt.datetime
    saved_by: str

    @property
    def text(self) -> LetterText | None:
        if self.subject is None or self.body is None:
            return None
        return LetterText(self.subject, self.body)


async def find_text(tx: Tx, letter: str, opening_id: int | None) -> LetterText | None:
    """The company's text of a letter: the opening's own, or the one of all openings; None: the default."""
    return await fetch_one(
        tx,
        LetterText,
        """
        SELECT subject, body
          FROM (SELECT DISTINCT ON (opening_id) opening_id, subject, body
                  FROM hiring.letter_template
                 WHERE letter = %(letter)s AND (opening_id IS NULL OR opening_id = %(opening)s)
                 ORDER BY opening_id, version DESC) AS latest
         WHERE subject IS NOT NULL
         ORDER BY opening_id NULLS LAST
         LIMIT 1
        """,
        {"letter": letter, "opening": opening_id},
    )


async def list_versions(
    tx: Tx, letter: str, opening_id: int | None = None
) -> list[TemplateVersion]:
    """The last versions of a letter, newest first."""
    return await fetch_all(
        tx,
        TemplateVersion,
        """
        SELECT letter, opening_id, version, subject, body, saved_at, saved_by
          FROM hiring.letter_template
         WHERE letter = %s AND opening_id IS NOT DISTINCT FROM %s
         ORDER BY version DESC
         LIMIT %s
        """,
        [letter, opening_id, MAX_VERSIONS],
    )


async def list_current(tx: Tx, opening_id: int | None = None) -> dict[str, TemplateVersion]:
    """The newest version of each letter that was ever changed."""
    rows = await fetch_all(
        tx,
        TemplateVersion,
        """
        SELECT DISTINCT ON (letter) letter, opening_id, version, subject, body, saved_at, saved_by
          FROM hiring.letter_template
         WHERE opening_id IS NOT DISTINCT FROM %s
         ORDER BY letter, version DESC
        """,
        [opening_id],
    )
    return {row.letter: row for row in rows}


async def save_text(
    tx: Tx,
    letter: str,
    text: LetterText | None,
    by: Actor,
    *,
    opening_id: int | None = None,
    based_on: int | None = None,
) -> None:
    """Save a new version; None resets the letter to its default.

    `based_on` is the version that was edited: Conflict if there is a newer one. Raises Invalid for an unknown
    letter or variable.
    """
    check_letter(letter)
    if text:
        text = check_text(letter, text)
    last, current = await _find_last(tx, letter, opening_id)
    if current == text:
        return
    try:
        saved = await tx.execute(
            """
            INSERT INTO hiring.letter_template (letter, opening_id, version, subject, body, saved_by)
            VALUES (%s, %s, %s, %s, %s, %s)
            ON CONFLICT DO NOTHING
            """,
            [
                letter,
                opening_id,
                1 + (last if based_on is None else based_on),
                text.subject if text else None,
                text.body if text else None,
                by.name,
            ],
        )
    except ForeignKeyViolation as error:
        raise OpeningNotFound(opening_id) from error
    # A double click saves the same text twice: the second request finds that of the first.
    if not saved.rowcount and (await _find_last(tx, letter, opening_id))[1] != text:
        raise Conflict(
            "This email template was changed since you opened it. Compare it with the newest version, then save."
        )


async def _find_last(tx: Tx, letter: str, opening_id: int | None) -> tuple[int, LetterText | None]:
    """The number and the text of the last version; 0 if there is none."""
    versions = await list_versions(tx, letter, opening_id)
    return (versions[0].version, versions[0].text) if versions else (0, None)


def check_letter(letter: str) -> None:
    if letter not in VARIABLES:
        raise Invalid(
            f"There is no email template {letter[:40]}. Templates are: {', '.join(VARIABLES)}."
        )


def check_text(letter: str, text: LetterText) -> LetterText:
    """The text with uniform line ends; raises Invalid for an unknown variable or a missing link."""
    subject = " ".join(text.subject.split())
    body = text.body.replace("\r\n", "\n").strip()
    if not 0 < len(subject) <= MAX_SUBJECT_LENGTH:
        raise Invalid(f"The subject should have 1 to {MAX_SUBJECT_LENGTH} characters.")
    if not 0 < len(body) <= MAX_BODY_LENGTH or "\0" in body:
        raise Invalid(f"The text should have 1 to {MAX_BODY_LENGTH:,} characters.")
    cleaned = LetterText(subject, body + "\n")
    check_variables("The email", cleaned, letter)
    return cleaned
