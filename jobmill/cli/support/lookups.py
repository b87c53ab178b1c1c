"""Find the person, profile or listing that an argument names."""

from __future__ import annotations

import os
from contextvars import ContextVar
from typing import Annotated

import typer

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import listings
from jobmill.catalog.listings import Listing
from jobmill.cli.support.hints import NotFoundWithHint
from jobmill.db import Tx
from jobmill.errors import NotFound
from jobmill.matching import profiles
from jobmill.matching.profiles import ProfileVersion
from jobmill.people import persons
from jobmill.people.persons import LOCAL, Owner

ProfileName = Annotated[
    str | None,
    typer.Option("--profile", metavar="NAME", help="Profile to use; default: the default profile."),
]
PersonEmail = Annotated[
    str | None,
    typer.Option(
        "--person",
        metavar="EMAIL",
        help="Act for this person; default: the local user, who has no account.",
    ),
]
_person: ContextVar[str | None] = ContextVar("person", default=None)
ListingName = Annotated[str, typer.Argument(metavar="LISTING", help="Number or URL of the job.")]
HOW_TO_BEGIN = "jobmill profile example > me.yaml, then jobmill profile import me.yaml"


def current_user() -> str:
    """The name that the history records for changes by this command."""
    return os.environ.get("USER") or "command line"


def choose_person(email: PersonEmail = None) -> None:
    """Choose the owner of the job search that the commands of this process work on."""
    _person.set(email)


async def find_owner(tx: Tx) -> Owner:
    """The chosen owner: the operator of the machine may use every job search."""
    email = _person.get()
    return LOCAL if email is None else (await persons.get_by_email(tx, email)).id


async def choose_profile(tx: Tx, name: str | None, *, version: int | None = None) -> ProfileVersion:
    """Read a profile by name, or the default one; an error tells how to create or list profiles."""
    try:
        return await profiles.get(tx, name, owner=await find_owner(tx), version=version)
    except NotFound as error:
        if version is not None:
            newest = await choose_profile(tx, name)
            raise NotFoundWithHint(
                f"{newest.name} has no version {version}: the newest is {newest.version}"
            ) from error
        if name is None:
            raise NotFoundWithHint(
                f"there is no profile yet; create one: {HOW_TO_BEGIN}"
            ) from error
        raise NotFoundWithHint(
            f"profile {name} does not exist; `jobmill profile list` lists the existing ones"
        ) from error


async def find_listing(tx: Tx, name: str) -> Listing:
    """Find a listing by number or URL."""
    is_number = name.isascii() and name.isdecimal()
    listing_id = (
        int(name)
        if is_number
        else await listings.find_by_url(tx, name, PLATFORM_RULES, private=True)
    )
    rows = [] if listing_id is None else await listings.by_ids(tx, [listing_id])
    if not rows:
        hint = "search WORDS` finds jobs" if is_number else "add URL` adds it"
        raise NotFoundWithHint(f"job {name} is not in the catalog; `jobmill listing {hint}")
    return rows[0]
