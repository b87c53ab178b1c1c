"""Pay, employment type and countries as fields of the form for an opening."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from jobmill.hiring.openings.posting_details import (
    EmploymentType,
    PayPeriod,
    PostingDetails,
    check_details,
    format_amount,
    parse_amount,
)
from jobmill.web.opening_posting_labels import employment_labels, period_labels


def parse_posting(form: Mapping[str, str]) -> PostingDetails:
    """Parse the fields; raises Invalid."""
    return check_details(
        PostingDetails(
            employment_type=cast(EmploymentType | None, form.get("employment_type") or None),
            pay_min=parse_amount(form.get("pay_min")),
            pay_max=parse_amount(form.get("pay_max")),
            pay_currency=form.get("pay_currency") or None,
            pay_period=cast(PayPeriod | None, form.get("pay_period") or None),
            countries=form.get("countries", "").split(","),
        )
    )


def to_fields(details: PostingDetails) -> dict[str, str]:
    """The fields that `parse_posting` reads back."""
    return {
        "employment_type": details.employment_type or "",
        "pay_min": format_amount(details.pay_min) if details.pay_min is not None else "",
        "pay_max": format_amount(details.pay_max) if details.pay_max is not None else "",
        "pay_currency": details.pay_currency or "",
        "pay_period": details.pay_period or "YEAR",
        "countries": ", ".join(details.countries),
    }


def labels() -> dict[str, object]:
    """The choices of the form."""
    return {"employment_types": employment_labels(), "pay_periods": period_labels()}
