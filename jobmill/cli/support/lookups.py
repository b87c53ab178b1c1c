"""What the commands of a seeker share: whose profile, which listing, who says so."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from typing import Annotated

import typer

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import listings
from jobmill.catalog.listings import Listing
from jobmill.db import Tx
from jobmill.errors import AppError, NotFound
from jobmill.matching import profiles
from jobmill.matching.profiles import Version

ProfileName = Annotated[
    str | None,
    typer.Option("--profile", metavar="NAME", help="Whose; else the default profile."),
]
ListingName = Annotated[
    str, typer.Argument(metavar="LISTING", help="The number of a listing, or its URL.")
]
BEGIN = "jobmill profile example > me.yaml, then jobmill profile import me.yaml"


class Missing(NotFound):
    """What was asked for is not there, and what to do about it."""

    def __init__(self, message: str) -> None:
        AppError.__init__(self, message)


@contextlib.contextmanager
def pointing() -> Generator[None]:
    """Say of a match that is not there where to look."""
    try:
        yield
    except Missing:
        raise
    except NotFound as error:
        raise Missing(f"{error}; `jobmill match list` shows those there are") from error


def who() -> str:
    return os.environ.get("USER") or "command line"


async def chosen(tx: Tx, name: str | None, *, version: int | None = None) -> Version:
    """The profile that is meant; Missing says how to make one, or where to look."""
    try:
        return await profiles.get(tx, name, version=version)
    except NotFound as error:
        if version is not None:
            newest = await chosen(tx, name)
            raise Missing(
                f"there is no version {version} of {newest.name}: the newest is {newest.version}"
            ) from error
        if name is None:
            raise Missing(f"there is no profile yet; begin with: {BEGIN}") from error
        raise Missing(
            f"there is no profile {name}; `jobmill profile list` shows those there are"
        ) from error


async def listing_of(tx: Tx, named: str) -> Listing:
    """The listing with a number or a URL; Missing says where to look."""
    is_number = named.isascii() and named.isdecimal()
    id = int(named) if is_number else await listings.find_by_url(tx, named, PLATFORM_RULES)
    found = [] if id is None else await listings.by_ids(tx, [id])
    if not found:
        hint = "search WORDS` finds some" if is_number else "add URL` has it read and judged"
        raise Missing(f"there is no listing {named}; `jobmill listing {hint}")
    return found[0]
