"""Print postings and listings."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from jobmill.catalog import posting_json
from jobmill.catalog.history import CatalogEvent
from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import Posting, Salary, format_salary
from jobmill.cli.support import output, times


def print_postings(postings: Sequence[Posting]) -> None:
    """Print numbered postings, two lines each."""
    output.print_entries(
        (
            number,
            [posting.title, posting.company],
            [
                posting.location or ", ".join(posting.locations),
                posting.arrangement,
                format_posting_salary(posting.salary),
                f"posted {posting.posted_at:%Y-%m-%d}" if posting.posted_at else None,
                posting.url,
            ],
        )
        for number, posting in enumerate(postings, 1)
    )


def print_posting(posting: Posting) -> None:
    """Print the facts of a posting, then its text."""
    facts = posting_json.to_record(posting)
    text = facts.pop("description")
    facts.pop("requirements")
    facts["salary"] = format_posting_salary(posting.salary)
    output.print_facts(
        {name: value for name, value in facts.items() if value not in (None, (), "", False)}
    )
    if text:
        typer.echo("\n" + "\n".join(output.printable(line) for line in text.split("\n")))


def print_listing_history(
    listing: Listing,
    completeness: str,
    duplicate_ids: Sequence[int],
    events: Sequence[CatalogEvent],
) -> None:
    """Print what the catalog knows about a listing besides its posting."""
    facts: dict[str, object] = {
        "completeness": completeness,
        "first seen": listing.first_seen_at,
        "last seen": listing.last_seen_at,
        "closed": listing.closed_at,
        "duplicate of": listing.duplicate_of
        and f"{listing.duplicate_of} ({listing.duplicate_why})",
        "duplicates": list(duplicate_ids),
    }
    typer.echo()
    output.print_facts({name: value for name, value in facts.items() if value not in (None, [])})
    for event in events:
        details = ", ".join(event.data) if event.what == "changed" else ""
        typer.echo(f"{times.format_minute(event.at)} {event.what} {details}".rstrip())


def format_posting_salary(salary: Salary | None) -> str | None:
    if salary is None:
        return None
    return format_salary(salary.min, salary.max, salary.currency, salary.period)
