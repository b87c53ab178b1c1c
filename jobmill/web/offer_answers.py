"""Answers to offers on the applicant's pages: for the offer that was shown, and without errors if repeated."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from jobmill.errors import AppError, Conflict, Invalid
from jobmill.hiring.applications.offers import NoOfferToAnswer
from jobmill.hiring.applications.withdrawals import AlreadyEnded
from jobmill.hiring.records import applications
from jobmill.hiring.transitions import ApplicationStatus
from jobmill.web.dependencies import RequestDatabase
from jobmill.web.translations import say

WANTED: Mapping[str, ApplicationStatus] = {
    "accept": "ACTIVE",
    "decline": "INACTIVE",
    "withdraw": "INACTIVE",
}
"""The state that an applicant asks for, by step."""


def read_offer_deadline(form: Mapping[str, str]) -> dt.datetime | None:
    """The deadline of the offer that the page showed, which tells it from a later one; raises Invalid."""
    try:
        return dt.datetime.fromisoformat(form["offer"]) if form.get("offer") else None
    except ValueError as error:
        raise Invalid(say("The form is not valid. Reload the page, then try again.")) from error


async def describe_refusal(
    db: RequestDatabase, application_id: int, step: str, refusal: AppError
) -> AppError | None:
    """What the applicant reads; None if the application is as they want it, so that nothing was to do."""
    if not isinstance(refusal, NoOfferToAnswer | AlreadyEnded):
        return refusal
    async with db.transaction() as tx:
        application = await applications.get(tx, application_id)
    if application.status == WANTED[step]:
        return None
    return offer_is_over()


def offer_is_over() -> Conflict:
    return Conflict(say("This offer was already answered or has ended."))
