"""Arguments, snapshots and lookups that the hiring commands share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, TypeVar

import typer

from jobmill.cli.support import environment, hints, session
from jobmill.db import Database, Tx
from jobmill.errors import Invalid
from jobmill.hiring.actor import SYSTEM
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applicants import Applicant
from jobmill.hiring.waitlist import overdue_offers
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers
from jobmill.settings import public_base_url

T = TypeVar("T")

OpeningId = Annotated[int, typer.Argument(metavar="OPENING", min=1, help="Number of the opening.")]
ApplicationId = Annotated[
    int, typer.Argument(metavar="APPLICATION", min=1, help="Number of the application.")
]
ApplicantName = Annotated[
    str, typer.Argument(metavar="PERSON", help="Number or email address of the applicant.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would happen without changing anything.")
]


def read_opening(opening: int, read: Callable[[Tx], Awaitable[T]]) -> T:
    """Run `read` on one snapshot, after overdue offers of the opening are settled."""
    return _read(lambda tx: overdue_offers.find_overdue_opening(tx, opening), read)


def read_applicant(name: str, read: Callable[[Tx, Applicant], Awaitable[T]]) -> T:
    """Run `read` on one snapshot, after overdue offers in the applicant's openings are settled."""

    async def find_overdue(tx: Tx) -> list[int]:
        applicant = await find_applicant(tx, name)
        return await overdue_offers.find_overdue_openings_of(tx, applicant.id)

    async def find_and_read(tx: Tx) -> T:
        return await read(tx, await find_applicant(tx, name))

    return _read(find_overdue, find_and_read)


def _read(
    find_overdue: Callable[[Tx], Awaitable[Sequence[int]]], read: Callable[[Tx], Awaitable[T]]
) -> T:
    async def run(database: Database) -> T:
        await settle_overdue(database, find_overdue)
        async with database.transaction() as tx:
            await overdue_offers.begin_snapshot(tx)
            return await read(tx)

    return session.with_database(run)


async def settle_overdue(
    database: Database, find_overdue: Callable[[Tx], Awaitable[Sequence[int]]]
) -> None:
    """Apply deadlines that have passed and that no worker has handled yet."""
    async with database.transaction() as tx:
        for opening_id in await find_overdue(tx):
            async with lock_and_expire_offers(tx, opening_id, SYSTEM):
                pass


async def find_applicant(tx: Tx, name: str) -> Applicant:
    """Find an applicant by number or email address."""
    if name.isascii() and name.isdecimal():
        # PostgreSQL rejects larger numbers; 0 gives the usual "does not exist".
        return await applicants.get(tx, int(name) if len(name) < 19 else 0)
    if "@" not in name:
        raise Invalid(f"{name} is neither the number of an applicant nor an email address")
    applicant = await applicants.find_by_email_key(
        tx, applicants.make_email_key(name, fold=folds_email_aliases())
    )
    if applicant is None:
        hint = "`jobmill opening show OPENING` lists applicants"
        raise hints.NotFoundWithHint(f"no applicant has the address {name}; {hint}")
    return applicant


def base_url() -> str:
    """The URL that links to our pages begin with."""
    return public_base_url(environment.load_settings())


def folds_email_aliases() -> bool:
    return environment.load_settings().fold_email_aliases
