"""Helpers that create people, keys and applicants."""

from __future__ import annotations

import datetime as dt

from jobmill.db import Database, fetch_value
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.people import keys, persons, secrets
from jobmill.people.keys import Scope
from jobmill.people.persons import Person, Role

PASSWORD = "correct horse battery"


async def make_person(
    database: Database, email: str = "ada@example.org", role: Role = "recruiter"
) -> Person:
    async with database.transaction() as tx:
        return await persons.add(tx, "Ada", email, role, PASSWORD)


SCOPES: dict[Role, Scope] = {"viewer": "read", "recruiter": "hiring", "admin": "admin"}
"""The scope that gives a key the rights of a role."""


async def bearer(database: Database, role: Role) -> dict[str, str]:
    """Headers with a key that has the rights of this role."""
    async with database.transaction() as tx:
        made = await keys.add(tx, f"for a {role}", SCOPES[role])
    return {"Authorization": f"Bearer {made.key}"}


async def make_applicant(database: Database, email: str = "bo@example.org") -> tuple[int, str]:
    """An applicant and their personal link."""
    async with database.transaction() as tx:
        id = await fetch_value(
            tx,
            int,
            """
            INSERT INTO hiring.applicant (name, email, email_key) VALUES ('Bo', %(email)s, %(email)s)
            RETURNING id
            """,
            {"email": email},
        )
        assert id
        return id, LinkSigner(await secrets.get_signing_key(tx)).sign_personal(
            id, 1, dt.datetime.now(dt.UTC)
        )
