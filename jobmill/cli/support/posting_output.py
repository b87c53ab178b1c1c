"""Postings as people see them in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from jobmill.catalog import posting_json
from jobmill.catalog.history import CatalogEvent
from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import Posting, Salary, format_salary
from jobmill.cli.support import output


def table(postings: Sequence[Posting]) -> None:
    """A number and two lines a posting."""
    output.entries(
        (
            number,
            [one.title, one.company],
            [
                one.location or ", ".join(one.locations),
                one.arrangement,
                pay_of(one.salary),
                f"posted {one.posted_at:%Y-%m-%d}" if one.posted_at else None,
                one.url,
            ],
        )
        for number, one in enumerate(postings, 1)
    )


def whole(posting: Posting) -> None:
    """One posting, its facts and then its text."""
    facts = posting_json.to_record(posting)
    text = facts.pop("description")
    facts.pop("requirements")
    facts["salary"] = pay_of(posting.salary)
    output.facts(
        {name: value for name, value in facts.items() if value not in (None, (), "", False)}
    )
    if text:
        typer.echo("\n" + "\n".join(output.plain(line) for line in text.split("\n")))


def story(
    listing: Listing, completeness: str, linked: Sequence[int], events: Sequence[CatalogEvent]
) -> None:
    """What we know of a listing besides what it says."""
    facts: dict[str, object] = {
        "completeness": completeness,
        "first seen": listing.first_seen_at,
        "last seen": listing.last_seen_at,
        "closed": listing.closed_at,
        "repeats": listing.duplicate_of and f"{listing.duplicate_of} ({listing.duplicate_why})",
        "repeated by": list(linked),
    }
    typer.echo()
    output.facts({name: value for name, value in facts.items() if value not in (None, [])})
    for event in events:
        said = ", ".join(event.data) if event.what == "changed" else ""
        typer.echo(f"{event.at.astimezone():%Y-%m-%d %H:%M} {event.what} {said}".rstrip())


def pay_of(salary: Salary | None) -> str | None:
    """The pay in one line."""
    if salary is None:
        return None
    return pay(salary.min, salary.max, salary.currency, salary.period)


def pay(
    low: float | None, high: float | None, currency: str | None, period: str | None
) -> str | None:
    """The same, from its parts: `EUR 60,000-75,000 a year`."""
    return format_salary(low, high, currency, period)
