"""What a posting says about the job besides its text: pay, employment type, countries of remote work."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, get_args

from jobmill.db import Tx, fetch_all
from jobmill.errors import Invalid
from jobmill.hiring.actor import Actor
from jobmill.hiring.records import openings
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers

EmploymentType = Literal[
    "FULL_TIME",
    "PART_TIME",
    "CONTRACTOR",
    "TEMPORARY",
    "INTERN",
    "VOLUNTEER",
    "PER_DIEM",
    "OTHER",
]
PayPeriod = Literal["HOUR", "DAY", "WEEK", "MONTH", "YEAR"]
EMPLOYMENT_TYPES: tuple[EmploymentType, ...] = get_args(EmploymentType)
PAY_PERIODS: tuple[PayPeriod, ...] = get_args(PayPeriod)

MAX_PAY = Decimal(1_000_000_000)
MAX_COUNTRIES = 50
CURRENCY = re.compile(r"[A-Z]{3}")
AMOUNT = re.compile(r"[0-9]{1,10}(\.[0-9]{1,2})?")


@dataclass(frozen=True, slots=True)
class PostingDetails:
    """The values that schema.org uses, so that they can be published unchanged."""

    employment_type: EmploymentType | None = None
    pay_min: Decimal | None = None
    pay_max: Decimal | None = None
    pay_currency: str | None = None
    pay_period: PayPeriod | None = None
    countries: list[str] = field(default_factory=list[str])
    """Where remote workers may live."""
    opening_id: int = field(default=0, compare=False)


NO_DETAILS = PostingDetails()


async def get_details(tx: Tx, opening_id: int) -> PostingDetails:
    return (await find_details(tx, [opening_id])).get(opening_id, NO_DETAILS)


async def find_details(tx: Tx, opening_ids: list[int]) -> dict[int, PostingDetails]:
    """The details of these openings that have any."""
    rows = await fetch_all(
        tx,
        PostingDetails,
        """
        SELECT opening_id, employment_type, pay_min, pay_max, pay_currency, pay_period, countries
          FROM hiring.posting_details
         WHERE opening_id = ANY (%s)
        """,
        [opening_ids],
    )
    return {row.opening_id: row for row in rows}


async def save_details(tx: Tx, opening_id: int, details: PostingDetails, by: Actor) -> None:
    """Replace the details of an opening; the audit log records what changed. Raises Invalid."""
    details = check_details(details)
    async with lock_and_expire_offers(tx, opening_id, by) as locked:
        openings.refuse_interview_time(locked.opening)
        before = await get_details(tx, opening_id)
        if details == before:
            return
        await tx.execute(
            """
            INSERT INTO hiring.posting_details
                   (opening_id, employment_type, pay_min, pay_max, pay_currency, pay_period, countries)
            VALUES (%(opening_id)s, %(employment_type)s, %(pay_min)s, %(pay_max)s, %(pay_currency)s,
                    %(pay_period)s, %(countries)s)
            ON CONFLICT (opening_id) DO UPDATE
               SET employment_type = excluded.employment_type, pay_min = excluded.pay_min,
                   pay_max = excluded.pay_max, pay_currency = excluded.pay_currency,
                   pay_period = excluded.pay_period, countries = excluded.countries
            """,
            {
                **{name: getattr(details, name) for name in PostingDetails.__dataclass_fields__},
                "opening_id": opening_id,
            },
        )
        was, now = _loggable(before), _loggable(details)
        changed = {name: value for name, value in now.items() if value != was[name]}
        locked.record_opening_event("EDITED", changed)


def _loggable(details: PostingDetails) -> dict[str, Any]:
    return {
        "employmentType": details.employment_type,
        "pay": format_pay(details),
        "countries": details.countries,
    }


def check_details(details: PostingDetails) -> PostingDetails:
    """Normalize the details; raises Invalid with what to enter."""
    if details.employment_type not in (None, *EMPLOYMENT_TYPES):
        raise Invalid(f"The employment type should be one of {', '.join(EMPLOYMENT_TYPES)}.")
    names = dict.fromkeys(" ".join(name.split()) for name in details.countries)
    countries = [name for name in names if name]
    if len(countries) > MAX_COUNTRIES or any(
        len(name) > 60 or not name.isprintable() for name in countries
    ):
        raise Invalid(f"Enter up to {MAX_COUNTRIES} countries of up to 60 characters.")
    return replace(_check_pay(details), countries=countries)


def _check_pay(details: PostingDetails) -> PostingDetails:
    low = details.pay_min if details.pay_min is not None else details.pay_max
    high = details.pay_max if details.pay_max is not None else details.pay_min
    if low is None or high is None:
        return replace(details, pay_currency=None, pay_period=None)
    if not 0 < low <= high <= MAX_PAY:
        raise Invalid("The pay should be a range of positive amounts, the lower one first.")
    currency = (details.pay_currency or "").strip().upper()
    if not CURRENCY.fullmatch(currency):
        raise Invalid("Enter the currency of the pay as three letters, such as EUR.")
    if details.pay_period not in PAY_PERIODS:
        raise Invalid("Choose the period of the pay: hour, day, week, month or year.")
    return replace(details, pay_min=low, pay_max=high, pay_currency=currency)


def parse_amount(text: str | None) -> Decimal | None:
    """An amount such as 45,000 or 17.50; None if the text is empty. Raises Invalid."""
    text = (text or "").replace(",", "").replace(" ", "")
    if not text:
        return None
    try:
        if AMOUNT.fullmatch(text):
            return Decimal(text).quantize(Decimal("0.01"))
    except InvalidOperation:
        pass
    raise Invalid("The pay should be an amount such as 45000 or 17.50.")


def format_amount(amount: Decimal) -> str:
    return f"{amount:,.0f}" if amount == amount.to_integral_value() else f"{amount:,.2f}"


def format_pay(details: PostingDetails) -> str | None:
    """The pay in a few words: EUR 45,000 to 52,000 per year."""
    if details.pay_min is None or details.pay_max is None or details.pay_period is None:
        return None
    amounts = format_amount(details.pay_min)
    if details.pay_max != details.pay_min:
        amounts += f" to {format_amount(details.pay_max)}"
    return f"{details.pay_currency} {amounts} per {details.pay_period.lower()}"
