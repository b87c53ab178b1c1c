"""Pay and employment type of a posting in words."""

from __future__ import annotations

from collections.abc import Mapping

from jobmill.hiring.openings.posting_details import (
    EmploymentType,
    PayPeriod,
    PostingDetails,
    format_amount,
)
from jobmill.web.translations import say


def employment_labels() -> Mapping[EmploymentType, str]:
    return {
        "FULL_TIME": say("Full-time"),
        "PART_TIME": say("Part-time"),
        "CONTRACTOR": say("Contract"),
        "TEMPORARY": say("Temporary"),
        "INTERN": say("Internship"),
        "VOLUNTEER": say("Volunteer"),
        "PER_DIEM": say("Per diem"),
        "OTHER": say("Other employment"),
    }


def period_labels() -> Mapping[PayPeriod, str]:
    return {
        "HOUR": say("per hour"),
        "DAY": say("per day"),
        "WEEK": say("per week"),
        "MONTH": say("per month"),
        "YEAR": say("per year"),
    }


def describe_posting(details: PostingDetails) -> list[str]:
    """Employment type, pay and countries, as far as they are known."""
    facts: list[str] = []
    if details.employment_type:
        facts.append(employment_labels()[details.employment_type])
    if details.pay_min is not None and details.pay_max is not None and details.pay_period:
        facts.append(_describe_pay(details.pay_period, details))
    if details.countries:
        names = ", ".join(details.countries)
        facts.append(say("Remote from: %(countries)s", countries=names))
    return facts


def _describe_pay(period: PayPeriod, details: PostingDetails) -> str:
    assert details.pay_min is not None
    assert details.pay_max is not None
    low, high = format_amount(details.pay_min), format_amount(details.pay_max)
    amount = low if low == high else say("%(low)s to %(high)s", low=low, high=high)
    return f"{details.pay_currency} {amount} {period_labels()[period]}"
