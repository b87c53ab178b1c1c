"""What the commands of a company share: which opening, which person, when."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Annotated, TypeVar

import typer

from jobmill.cli.support import environment, output, session
from jobmill.cli.support.lookups import Missing
from jobmill.db import Database, Tx
from jobmill.errors import AppError, Invalid, NotFound
from jobmill.hiring.actor import SYSTEM
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applicants import Applicant
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers
from jobmill.settings import public_base_url

T = TypeVar("T")

OpeningId = Annotated[
    int,
    typer.Argument(metavar="OPENING", min=1, help="The number of an opening."),
]
ApplicationId = Annotated[
    int,
    typer.Argument(metavar="APPLICATION", min=1, help="The number of an application."),
]
PersonName = Annotated[
    str,
    typer.Argument(metavar="PERSON", help="The number of an applicant, or their e-mail address."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would happen, and change nothing.")
]
Limit = Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="At most so many.")]

SPAN = re.compile(r"(\d{1,7})\s*(s|sec|m|min|h|d|w)?")
UNITS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
SPOKEN = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
AGES = (("d", 86_400), ("h", 3_600), ("min", 60))
TIGHT = dt.timedelta(days=2)

THEIRS = re.compile(r"\b([Jj])ob (?=(?:with id )?\d)")
"""What programs call an opening."""

WHERE = {
    "Opening with id": "jobmill opening list",
    "opening": "jobmill opening list",
    "Application with id": "jobmill opening show OPENING",
    "Applicant with id": "jobmill opening show OPENING",
    "webhook": "jobmill webhook list",
    "delivery": "jobmill webhook deliveries WEBHOOK",
    "person": "jobmill person list",
    "key": "jobmill key list --all",
    "Blocked address": "jobmill opening blocked",
}
PLACE = re.compile("|".join(f"{what} " for what in WHERE))
EVENT = re.compile(r"Opening (\d+) has no event ")


@contextlib.contextmanager
def pointing() -> Generator[None]:
    """Say of what is not there where to look, and in the words of the commands."""
    try:
        yield
    except Missing:
        raise
    except NotFound as error:
        text = ours(str(error))
        where = _where(text)
        hint = f"; `{where}` shows those there are" if where else ""
        raise Missing(f"{text}{hint}") from error
    except AppError as error:
        error.args = (ours(str(error)),)
        raise


def ours(text: str) -> str:
    """The same, about an opening: what rules say is written for programs, too."""
    return THEIRS.sub(lambda found: "Opening " if found[1] == "J" else "opening ", text)


def _where(text: str) -> str | None:
    if found := EVENT.match(text):
        return f"jobmill hiring replay {found[1]}"
    found = PLACE.match(text)
    return WHERE[found[0].rstrip()] if found else None


def change(act: Callable[[Tx], Awaitable[T]]) -> T:
    """Do one thing, in one transaction."""
    with pointing():
        return session.ask(act)


def look(opening: int, question: Callable[[Tx], Awaitable[T]]) -> T:
    """Ask about an opening, as it is once what is overdue is settled; all of one moment."""

    async def overdue(tx: Tx) -> list[int]:
        return await applicant_lists.find_overdue_opening(tx, opening)

    return _look(overdue, question)


def look_at_person(named: str, question: Callable[[Tx, Applicant], Awaitable[T]]) -> T:
    """The same about an applicant."""

    async def overdue(tx: Tx) -> list[int]:
        return await applicant_lists.find_overdue_openings_of(
            tx, (await applicant_of(tx, named)).id
        )

    async def ask(tx: Tx) -> T:
        return await question(tx, await applicant_of(tx, named))

    return _look(overdue, ask)


def _look(
    overdue: Callable[[Tx], Awaitable[Sequence[int]]], question: Callable[[Tx], Awaitable[T]]
) -> T:
    async def run(database: Database) -> T:
        await settle(database, overdue)
        async with database.transaction() as tx:
            await applicant_lists.begin_snapshot(tx)
            return await question(tx)

    with pointing():
        return session.use(run)


async def settle(database: Database, overdue: Callable[[Tx], Awaitable[Sequence[int]]]) -> None:
    """Do what the clock has decided and no worker has done yet."""
    async with database.transaction() as tx:
        for id in await overdue(tx):
            async with lock_and_expire_offers(tx, id, SYSTEM):
                pass


async def applicant_of(tx: Tx, named: str) -> Applicant:
    """Who has a number or an address; Missing says where to look."""
    if named.isascii() and named.isdecimal():
        # No number is so big, and the database would not take it.
        return await applicants.get(tx, int(named) if len(named) < 19 else 0)
    if "@" not in named:
        raise Invalid(f"{named} is neither the number of an applicant nor an e-mail address")
    found = await applicants.find_by_email_key(tx, applicants.email_key(named, fold=folds()))
    if found is None:
        hint = "`jobmill opening show OPENING` shows who applied"
        raise Missing(f"no applicant has the address {named}; {hint}")
    return found


def home() -> str:
    """What links to our pages begin with."""
    return public_base_url(environment.load())


def folds() -> bool:
    """Whether aliases of a mailbox are one person here."""
    return environment.load().fold_email_aliases


def span(text: str) -> dt.timedelta:
    """`90s`, `5m`, `2h`, `3d`, `1w`."""
    found = SPAN.fullmatch(text.strip().lower())
    if not found:
        raise Invalid(f"{text} is no span of time: write 90s, 5m, 2h, 3d or 1w")
    return dt.timedelta(seconds=int(found[1]) * UNITS[found[2] or "s"])


def moment(text: str) -> dt.datetime:
    """A time as people write it; without a zone it is the local one."""
    try:
        found = dt.datetime.fromisoformat(text.strip())
        return found.astimezone()
    except (ValueError, OverflowError):
        raise Invalid(
            f"{text} is no time: write 2026-11-15 09:30, or 2026-11-15T09:30:00Z"
        ) from None


def say_span(span: dt.timedelta) -> str:
    """`5 minutes`, `90 seconds`: in the largest unit that leaves no rest."""
    seconds = round(span.total_seconds())
    return next(
        output.count(seconds // length, unit) for unit, length in SPOKEN if seconds % length == 0
    )


def age(span: dt.timedelta) -> str:
    """About how long: `90 s`, `3 min`, `2 h`, `7 d`."""
    seconds = max(span.total_seconds(), 0)
    return next(
        (f"{seconds / length:.0f} {unit}" for unit, length in AGES if seconds >= 2 * length),
        f"{seconds:.0f} s",
    )


def ago(at: dt.datetime) -> str:
    """`3 min ago` where that is recent, else the day."""
    since = dt.datetime.now(dt.UTC) - at
    return f"{age(since)} ago" if since < TIGHT else f"{at.astimezone():%Y-%m-%d %H:%M}"


def until(at: dt.datetime) -> str:
    """`by 21:30:05 (4 min left)`."""
    left = at - dt.datetime.now(dt.UTC)
    form = "%H:%M:%S" if left < dt.timedelta(hours=20) else "%Y-%m-%d %H:%M"
    return f"by {at.astimezone():{form}} ({age(left)} left)"
