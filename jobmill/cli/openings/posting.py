"""jobmill opening posting: pay, employment type and countries of an opening."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from jobmill.cli.support import output, session
from jobmill.cli.support.hiring_session import OpeningId
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.openings import posting_details
from jobmill.hiring.openings.posting_details import EmploymentType, PayPeriod, PostingDetails
from jobmill.hiring.records import openings


def posting(
    opening: OpeningId,
    employment_type: Annotated[
        EmploymentType | None, typer.Option("--type", help="Employment type.")
    ] = None,
    pay_min: Annotated[str | None, typer.Option(metavar="AMOUNT", help="Lowest pay.")] = None,
    pay_max: Annotated[str | None, typer.Option(metavar="AMOUNT", help="Highest pay.")] = None,
    currency: Annotated[
        str | None, typer.Option(metavar="CODE", help="Currency, such as EUR.")
    ] = None,
    period: Annotated[PayPeriod | None, typer.Option(help="Period of the pay.")] = None,
    country: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Country of remote workers; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show or change the pay, employment type and countries of an opening."""
    changes: dict[str, Any] = {
        "employment_type": employment_type,
        "pay_min": posting_details.parse_amount(pay_min),
        "pay_max": posting_details.parse_amount(pay_max),
        "pay_currency": currency,
        "pay_period": period,
        "countries": country,
    }
    changes = {name: value for name, value in changes.items() if value is not None}

    async def change_posting(tx: Tx) -> PostingDetails:
        await openings.get(tx, opening)
        details = await posting_details.get_details(tx, opening)
        if changes:
            await posting_details.save_details(tx, opening, replace(details, **changes), LOCAL)
        return await posting_details.get_details(tx, opening)

    details = session.in_transaction(change_posting)
    fields = {
        "openingId": opening,
        "employmentType": details.employment_type,
        "pay": posting_details.format_pay(details),
        "countries": details.countries,
    }
    if as_json:
        output.print_json(fields)
    else:
        typer.echo(f"Employment type: {details.employment_type or '(none)'}")
        typer.echo(f"Pay: {fields['pay'] or '(none)'}")
        typer.echo(f"Countries: {', '.join(details.countries) or '(none)'}")
