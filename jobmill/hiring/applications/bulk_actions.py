"""One action on many applications of an opening, under one lock and at one instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from jobmill.db import Tx
from jobmill.db.live_channel import announce_change
from jobmill.errors import Invalid
from jobmill.hiring.actor import Actor
from jobmill.hiring.admission import decisions
from jobmill.hiring.applications.offers import OUT_OF_TURN
from jobmill.hiring.applications.withdrawals import end_application, withdrawal_rule
from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.messages import notices
from jobmill.hiring.openings.lifecycle import resize
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applications import Application
from jobmill.hiring.transitions import ApplicationStatus
from jobmill.hiring.waitlist import promotions
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers

BulkAction = Literal["withdraw", "promote", "message", "accept", "reject"]
BulkOutcome = Literal["withdrawn", "offered", "told", "refused", "accepted", "rejected"]

MAX_APPLICATIONS: Mapping[BulkAction, int] = {
    "withdraw": 5_000,
    "promote": 5_000,
    "message": 100_000,
    "accept": 5_000,
    "reject": 5_000,
}
"""Other requests for the opening wait for the lock while one action runs."""
MAX_MESSAGE_LENGTH = 10_000
ALREADY_SENT = "this message was sent a moment ago and is not sent again"
DECISIONS: frozenset[BulkAction] = frozenset({"accept", "reject"})
"""Actions on applications in review; their reason is optional."""
BEFORE: Mapping[ApplicationStatus, str] = {
    "ACTIVE": "had a place",
    "PENDING_ACKNOWLEDGMENT": "had an offer",
    "WAITLIST": "was waiting",
    "IN_REVIEW": "was in review",
}


@dataclass(frozen=True, slots=True)
class BulkResult:
    """The outcome for one application; includes those that were offered a slot as a consequence."""

    application_id: int
    applicant_id: int | None
    outcome: BulkOutcome
    detail: str | None = None


async def run_bulk_action(
    tx: Tx,
    opening_id: int,
    action: BulkAction,
    ids: Sequence[int] | None,
    by: Actor,
    *,
    reason: str,
    message: str | None = None,
    add_slots: bool = False,
    tell_reason: bool = False,
    dry_run: bool = False,
) -> list[BulkResult]:
    """Apply the action to these applications in order, or to the whole waitlist if `ids` is None.

    Without ids, `accept` and `reject` decide on all applications in review. Accepted ones join the waitlist in
    the opening's review order. `tell_reason` tells rejected applicants the reason.
    A refused application does not stop the others. A dry run is rolled back.
    """
    _check_input(action, ids, reason, message)
    async with (
        tx.transaction(force_rollback=dry_run),
        lock_and_expire_offers(tx, opening_id, by) as locked,
    ):
        openings.refuse_interview_time(locked.opening)
        refused, selected = await _select(locked, ids, action)
        match action:
            case "withdraw":
                results = await _withdraw(locked, selected, reason)
            case "promote":
                results = _promote(locked, selected, reason, add_slots)
            case "accept":
                results = await _accept(locked, selected, reason)
            case "reject":
                results = [
                    _reject(locked, application, reason, tell_reason) for application in selected
                ]
            case "message":
                results = await _send_messages(locked, selected, reason, message or "")
    return _sort_as_requested([*refused, *results], ids)


def _check_input(
    action: BulkAction, ids: Sequence[int] | None, reason: str, message: str | None
) -> None:
    if action not in DECISIONS and not reason.strip():
        raise Invalid("Enter a reason. It is kept in the audit log.")
    if action == "message" and not (message and message.strip()):
        raise Invalid("Enter the message to send.")
    if message and (len(message) > MAX_MESSAGE_LENGTH or "\0" in message):
        raise Invalid(f"A message can have at most {MAX_MESSAGE_LENGTH:,} characters.")
    if ids is not None and len(ids) > MAX_APPLICATIONS[action]:
        raise Invalid(f"Select at most {MAX_APPLICATIONS[action]:,} applications at once.")


async def _select(
    locked: LockedOpening, ids: Sequence[int] | None, action: BulkAction
) -> tuple[list[BulkResult], list[Application]]:
    """The applications of this opening, each once, and a refusal for every id that is not among them."""
    tx = await locked.flush()
    if ids is None:
        limit = MAX_APPLICATIONS[action]
        if action in DECISIONS:
            waiting = await applications.find_in_review(tx, locked.opening.id)
        else:
            waiting = await applications.find_first_waiting(tx, locked.opening.id, limit + 1)
        if len(waiting) > limit:
            count = locked.in_review if action in DECISIONS else locked.waiting
            raise Invalid(
                f"{count:,} applications wait, but at most {limit:,} can be changed at once. "
                "Select some of them."
            )
        return [], waiting
    requested = list(dict.fromkeys(ids))
    by_id: dict[int, Application] = {
        application.id: application
        for application in await applications.find_by_ids(tx, locked.opening.id, requested)
    }
    missing = f"job {locked.opening.id} has no such application"
    refused = [BulkResult(id, None, "refused", missing) for id in requested if id not in by_id]
    return refused, [by_id[id] for id in requested if id in by_id]


async def _withdraw(
    locked: LockedOpening, selected: Sequence[Application], reason: str
) -> list[BulkResult]:
    """End all applications before offering any slot, so that no slot is offered to one of them."""
    results: list[BulkResult] = []
    rule = withdrawal_rule(locked.by)
    for application in selected:
        if application.status == "INACTIVE":
            results.append(_refuse(application, "it has ended already"))
            continue
        await end_application(locked, application, rule=rule, reason=reason, fill=False)
        results.append(
            BulkResult(
                application.id, application.applicant_id, "withdrawn", BEFORE[application.status]
            )
        )
    if any(result.outcome == "withdrawn" for result in results):
        for offered in await promotions.offer_free_slots(locked, cause=locked.seq):
            results.append(BulkResult(offered.id, offered.applicant_id, "offered", "next in line"))
    return results


def _promote(
    locked: LockedOpening, selected: Sequence[Application], reason: str, add_slots: bool
) -> list[BulkResult]:
    results: list[BulkResult] = []
    for application in selected:
        if application.status != "WAITLIST":
            results.append(_refuse(application, "it is not on the waitlist"))
            continue
        if not locked.free_slots:
            if not add_slots:
                results.append(_refuse(application, "no place is free"))
                continue
            resize(locked, locked.occupied + 1, reason)
        promotions.offer_slot(locked, application, why=OUT_OF_TURN, note=reason)
        results.append(BulkResult(application.id, application.applicant_id, "offered"))
    return results


async def _accept(
    locked: LockedOpening, selected: Sequence[Application], reason: str
) -> list[BulkResult]:
    decisions.refuse_before_draw(locked)
    undecided = [application for application in selected if application.status == "IN_REVIEW"]
    ordered = decisions.sort_by_review_order(undecided, locked.opening.review_order)
    why = decisions.ACCEPTED_BY_COMPANY
    offered = await decisions.accept_all(locked, ordered, why=why, note=reason.strip() or None)
    offered_ids = {application.id for application in offered}
    results = [
        BulkResult(
            application.id,
            application.applicant_id,
            "offered" if application.id in offered_ids else "accepted",
        )
        for application in undecided
    ]
    chosen = {application.id for application in undecided}
    results += [
        _refuse_decided(application) for application in selected if application.id not in chosen
    ]
    others = [application for application in offered if application.id not in chosen]
    return [
        *results,
        *(BulkResult(other.id, other.applicant_id, "offered", "next in line") for other in others),
    ]


def _reject(
    locked: LockedOpening, application: Application, reason: str, tell_reason: bool
) -> BulkResult:
    if application.status != "IN_REVIEW":
        return _refuse_decided(application)
    decisions.reject_application(locked, application, reason.strip() or None, tell_reason)
    return BulkResult(application.id, application.applicant_id, "rejected")


def _refuse_decided(application: Application) -> BulkResult:
    return _refuse(application, f"it is not in review: {decisions.DECIDED[application.status]}")


async def _send_messages(
    locked: LockedOpening, selected: Sequence[Application], reason: str, message: str
) -> list[BulkResult]:
    """Send each applicant a text once: a form that is submitted twice, or again after a lost response,
    asks for one message."""
    tx = await locked.flush()
    ids = [application.id for application in selected]
    repeated = await notices.find_recent_messages(tx, ids, message)
    if not repeated.issuperset(ids):
        # Open personal pages show it: only a change of the opening is announced by itself.
        await announce_change(tx, "hiring")
    return [
        BulkResult(application.id, application.applicant_id, "told", ALREADY_SENT)
        if application.id in repeated
        else _send_message(locked, application, reason, message)
        for application in selected
    ]


def _send_message(
    locked: LockedOpening, application: Application, reason: str, message: str
) -> BulkResult:
    # A message is no event of the audit log: the notice keeps its reason and its sender.
    locked.add_notice("message", application, text=message, reason=reason, by=locked.by.name)
    return BulkResult(application.id, application.applicant_id, "told")


def _refuse(application: Application, detail: str) -> BulkResult:
    return BulkResult(application.id, application.applicant_id, "refused", detail)


def _sort_as_requested(
    results: Sequence[BulkResult], ids: Sequence[int] | None
) -> list[BulkResult]:
    """In the order of `ids`; consequences for other applications come last."""
    order = {id: index for index, id in enumerate(dict.fromkeys(ids or ()))}
    return sorted(results, key=lambda result: order.get(result.application_id, len(order)))
