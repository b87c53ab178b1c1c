"""Every write of hiring besides applying, accepting and withdrawing: how to prepare it, and what it leaves."""

from __future__ import annotations

import datetime as dt
import io
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal

from jobmill.db import Tx
from jobmill.hiring import company_identity, privacy
from jobmill.hiring.actor import LOCAL, by_applicant
from jobmill.hiring.admission import decisions, lottery
from jobmill.hiring.applications import apply_requests, bulk_actions, closing, submissions
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.forms import form_versions, uploads
from jobmill.hiring.forms.answers import FormSubmission
from jobmill.hiring.forms.form_fields import parse_form
from jobmill.hiring.forms.uploads import CheckedFile
from jobmill.hiring.import_export import imports, spreadsheets
from jobmill.hiring.interviews import bookings, interview_times
from jobmill.hiring.interviews.interview_times import InterviewPlan, InterviewTime
from jobmill.hiring.logo_images import LogoImage
from jobmill.hiring.messages import letter_templates, webhooks
from jobmill.hiring.messages.letter_variables import LetterText
from jobmill.hiring.messages.signed_links import ConfirmationToken
from jobmill.hiring.openings import lifecycle, posting_details
from jobmill.hiring.openings.posting_details import PostingDetails
from jobmill.hiring.records import blocklist
from jobmill.hiring.records.applicants import parse_contact
from jobmill.hiring.records.idempotent_responses import KeyedRequest, NewResponse
from jobmill.hiring.records.openings import Opening, OpeningTerms
from jobmill.hiring.reviews import notes, ratings, tags
from jobmill.hiring.stages.stage_moves import move_to_stage
from jobmill.web.access_rights import ALL_RIGHTS
from jobmill.web.apply_batch import ApplyBatches, IdempotentApply
from jobmill.web.auth import Visitor
from jobmill.web.dependencies import RequestDatabase
from jobmill.web.form_keys import create_once, make_form_key
from tests.hiring.helpers import apply, make_applicant, make_opening
from tests.hiring.interview_helpers import make_times, series
from tests.hiring.killed_connections import Write
from tests.queue.helpers import fetch

LETTER = LetterText("Sorry: $title", "$greeting\n\n$company has closed $title.\n")
STAGES = [{"key": "screen", "name": "Trial day", "kind": "open"}]
FORM = parse_form({"fields": [{"type": "file", "label": "CV", "required": True}]})
CONTENT = bytes(range(256)) * 2_500
"""Three chunks."""
ADA = parse_contact("Ada", "ada@example.org")
DAY = dt.timedelta(days=1)
HOOK = "https://hooks.example.org/"
STAFF = Visitor("admin", ALL_RIGHTS, LOCAL)
OFFER = ("promoted", "reminder")
"""The letters of an offer."""


@dataclass(frozen=True, slots=True)
class HiringWrite:
    prepare: Callable[[Tx], Awaitable[Write]]
    leaves: Counter[str]
    """How many events, letters and other rows it adds, or removes if negative: `event ACCEPTED`, `hiring.tag`."""
    is_repeatable: bool
    """Whether a repeated write answers like the first one instead of saying that it happened already."""


WRITES: dict[str, HiringWrite] = {}


def write(
    *events: str, letters: tuple[str, ...] = (), again: bool = False, **rows: int
) -> Callable[[Callable[[Tx], Awaitable[Write]]], None]:
    def add(prepare: Callable[[Tx], Awaitable[Write]]) -> None:
        leaves = Counter([f"event {type}" for type in events])
        leaves.update(f"letter {kind}" for kind in letters)
        leaves.update({name.replace("__", "."): number for name, number in rows.items()})
        WRITES[prepare.__name__] = HiringWrite(prepare, leaves, again)

    return add


async def make_reviewed(tx: Tx, admission: str = "review") -> tuple[Opening, Sequence[int]]:
    """An opening with one place and three applications in review."""
    opening = await make_opening(tx, 1, admission=admission)
    return opening, [(await apply(tx, opening)).application.id for _ in range(3)]


async def make_waiting(tx: Tx) -> tuple[Opening, Sequence[int]]:
    """An opening with one place, which is taken, and two applications on the waitlist."""
    opening = await make_opening(tx, 1)
    return opening, [(await apply(tx, opening)).application.id for _ in range(3)]


async def make_interviews(tx: Tx) -> tuple[Sequence[int], Sequence[InterviewTime]]:
    """Two applications with a place, and two interview times for one person each."""
    opening = await make_opening(tx, 2)
    ids = [(await apply(tx, opening)).application.id for _ in range(2)]
    return ids, await make_times(tx, opening)


async def make_form(tx: Tx) -> tuple[Opening, FormSubmission]:
    """An opening that asks for a file, and an answer with an uploaded one."""
    opening = await make_opening(tx, 2)
    form = await form_versions.save_form(tx, opening.id, FORM, LOCAL)
    checked = CheckedFile("cv", "cv.pdf", "application/pdf", len(CONTENT))
    file = await uploads.store(tx, opening.id, checked, io.BytesIO(CONTENT))
    return opening, FormSubmission(form.version, "{}", (str(file.id),))


@write("ACCEPTED", "PROMOTED", letters=OFFER)
async def accept(tx: Tx) -> Write:
    _, ids = await make_reviewed(tx)
    return lambda tx: decisions.accept(tx, ids[0], LOCAL, reason="Good")


@write("REJECTED", letters=("rejected",))
async def reject(tx: Tx) -> Write:
    _, ids = await make_reviewed(tx)
    return lambda tx: decisions.reject(tx, ids[0], LOCAL, reason="Late", tell_reason=True)


@write("SCORED", again=True)
async def score(tx: Tx) -> Write:
    _, ids = await make_reviewed(tx)
    return lambda tx: decisions.score(tx, ids[0], 70, LOCAL)


@write(*["ACCEPTED"] * 3, "PROMOTED", letters=(*OFFER, "admitted", "admitted"), again=True)
async def accept_many(tx: Tx) -> Write:
    opening, ids = await make_reviewed(tx)
    return lambda tx: bulk_actions.run_bulk_action(tx, opening.id, "accept", ids, LOCAL, reason="")


@write(*["REJECTED"] * 3, letters=("rejected",) * 3, again=True)
async def reject_many(tx: Tx) -> Write:
    opening, _ = await make_reviewed(tx)
    return lambda tx: bulk_actions.run_bulk_action(tx, opening.id, "reject", None, LOCAL, reason="")


@write("LOTTERY_DRAWN", *["ACCEPTED"] * 3, "PROMOTED", letters=(*OFFER, "admitted", "admitted"))
async def draw_lottery(tx: Tx) -> Write:
    opening, _ = await make_reviewed(tx, "lottery")
    return lambda tx: lottery.draw(tx, opening.id, LOCAL)


@write("EDITED", "LOTTERY_OPENED", again=True, hiring__lottery=1)
async def change_to_lottery(tx: Tx) -> Write:
    # A lottery starts without entries.
    opening = await make_opening(tx, 1, admission="review")
    return lambda tx: lifecycle.edit(tx, opening.id, LOCAL, admission="lottery")


@write("EDITED", *["REJECTED"] * 3, letters=("rejected",) * 3, again=True)
async def change_to_first_come(tx: Tx) -> Write:
    opening, _ = await make_reviewed(tx)
    return lambda tx: lifecycle.edit(
        tx, opening.id, LOCAL, in_review="reject", admission="first_come"
    )


@write("STAGE_CHANGED")
async def move_stage(tx: Tx) -> Write:
    _, ids = await make_waiting(tx)
    return lambda tx: move_to_stage(tx, ids[0], "interview", LOCAL, seen="screen")


@write("STAGE_CHANGED", "PROMOTED", letters=("rejected", *OFFER, "position"))
async def reject_by_stage(tx: Tx) -> Write:
    _, ids = await make_waiting(tx)
    return lambda tx: move_to_stage(tx, ids[0], "rejected", LOCAL, seen="screen")


@write("EDITED", again=True)
async def define_stages(tx: Tx) -> Write:
    opening, _ = await make_waiting(tx)
    return lambda tx: lifecycle.edit(tx, opening.id, LOCAL, stages=STAGES)


@write(again=True, hiring__review_note=1)
async def add_note(tx: Tx) -> Write:
    _, ids = await make_waiting(tx)
    return lambda tx: notes.add_note(tx, ids[0], "Strong.", LOCAL)


@write(again=True, people__change=1)
async def edit_note(tx: Tx) -> Write:
    _, ids = await make_waiting(tx)
    note = await notes.add_note(tx, ids[0], "Strong.", LOCAL)
    return lambda tx: notes.edit_note(tx, note.id, "Weak.", LOCAL)


@write(hiring__review_note=-1, people__change=1)
async def delete_note(tx: Tx) -> Write:
    _, ids = await make_waiting(tx)
    note = await notes.add_note(tx, ids[0], "Strong.", LOCAL)
    return lambda tx: notes.delete_note(tx, note.id, LOCAL)


@write(again=True, hiring__rating=1)
async def rate(tx: Tx) -> Write:
    _, ids = await make_waiting(tx)
    return lambda tx: ratings.rate(tx, ids[0], 4, LOCAL)


@write(again=True, hiring__tag=1)
async def add_tag(tx: Tx) -> Write:
    _, ids = await make_waiting(tx)
    return lambda tx: tags.add_tag(tx, ids[0], "baker", LOCAL)


@write(again=True, hiring__tag=-1)
async def remove_tag(tx: Tx) -> Write:
    _, ids = await make_waiting(tx)
    await tags.add_tag(tx, ids[0], "baker", LOCAL)
    return lambda tx: tags.remove_tag(tx, ids[0], "baker")


def from_form(create: Callable[[Tx], Awaitable[object]]) -> Write:
    """What the same form of a page creates, however often it is sent."""
    key = make_form_key()

    async def run(tx: Tx) -> object:
        async def create_in_transaction() -> str:
            return str(await create(tx))

        return await create_once(tx, STAFF, key, "", create_in_transaction)

    return run


@write("OPENED", again=True, hiring__opening=1, hiring__idempotent_response=1)
async def create_opening(tx: Tx) -> Write:
    return from_form(lambda tx: lifecycle.create(tx, OpeningTerms("Baker"), 2, LOCAL))


@write("OPENED", "OPENED", again=True, hiring__opening=2, hiring__idempotent_response=1)
async def import_openings(tx: Tx) -> Write:
    planned = imports.parse_openings(b"title,capacity\nBaker,2\nCook,1\n")
    return from_form(lambda tx: imports.create_openings(tx, planned, LOCAL))


@write(again=True, letters=("message",) * 3)
async def message_many(tx: Tx) -> Write:
    opening, ids = await make_waiting(tx)
    return lambda tx: bulk_actions.run_bulk_action(
        tx, opening.id, "message", ids, LOCAL, reason="News", message="We move."
    )


async def make_webhook(tx: Tx) -> tuple[Opening, int]:
    opening = await make_opening(tx, 1)
    return opening, (await webhooks.add(tx, HOOK, opening_id=opening.id)).id


@write(again=True, hiring__webhook=1, hiring__idempotent_response=1, people__change=1)
async def add_webhook(tx: Tx) -> Write:
    opening = await make_opening(tx)
    return from_form(lambda tx: webhooks.add(tx, HOOK, opening_id=opening.id))


@write(hiring__webhook=-1, people__change=1)
async def remove_webhook(tx: Tx) -> Write:
    _, id = await make_webhook(tx)
    return lambda tx: webhooks.remove(tx, id)


@write(again=True, letters=("webhook",), hiring__idempotent_response=1)
async def deliver_again(tx: Tx) -> Write:
    opening, id = await make_webhook(tx)
    await apply(tx, opening)
    [delivery] = await fetch(tx, "SELECT id FROM hiring.notice WHERE webhook_id = %s", [id])
    return from_form(lambda tx: webhooks.redeliver(tx, delivery))


@write("OPENED", "OPENED", again=True, hiring__opening=2)
async def add_interview_times(tx: Tx) -> Write:
    opening, _ = await make_waiting(tx)
    plan = InterviewPlan(1, "Room 4")
    return lambda tx: interview_times.add_times(tx, opening.id, series(), plan, LOCAL)


@write("APPLIED", letters=("interview_booked",), hiring__application=1)
async def book(tx: Tx) -> Write:
    ids, times = await make_interviews(tx)
    return lambda tx: bookings.book(tx, ids[0], times[0].id, LOCAL)


@write("APPLIED", letters=("applied",), hiring__application=1)
async def wait_for_an_interview(tx: Tx) -> Write:
    ids, times = await make_interviews(tx)
    await bookings.book(tx, ids[0], times[0].id, LOCAL)
    return lambda tx: bookings.book(tx, ids[1], times[0].id, LOCAL)


@write(
    "APPLIED", "WITHDRAWN", "PROMOTED",
    letters=("interview_booked", *OFFER), hiring__application=1,
)  # fmt: skip
async def book_another_time(tx: Tx) -> Write:
    ids, times = await make_interviews(tx)
    for id in ids:
        await bookings.book(tx, id, times[0].id, LOCAL)
    return lambda tx: bookings.book(tx, ids[0], times[1].id, LOCAL)


@write("WITHDRAWN", "PROMOTED", letters=("interview_cancelled", *OFFER))
async def cancel_booking(tx: Tx) -> Write:
    ids, times = await make_interviews(tx)
    for id in ids:
        await bookings.book(tx, id, times[0].id, LOCAL)
    return lambda tx: bookings.cancel_booking(tx, ids[0], LOCAL)


@write("EDITED", letters=("interview_moved",), again=True)
async def move_interview(tx: Tx) -> Write:
    ids, times = await make_interviews(tx)
    await bookings.book(tx, ids[0], times[0].id, LOCAL)
    start = times[0].starts_at + DAY
    return lambda tx: interview_times.move_interview(tx, times[0].id, LOCAL, starts_at=start)


@write("WITHDRAWN", "CLOSED", letters=("interview_cancelled",), again=True)
async def cancel_interview(tx: Tx) -> Write:
    ids, times = await make_interviews(tx)
    await bookings.book(tx, ids[0], times[0].id, LOCAL)
    return lambda tx: interview_times.cancel_interview(tx, times[0].id, LOCAL)


@write(*["CAPACITY_CHANGED", "PROMOTED"] * 2, letters=OFFER * 2, again=True)
async def promote_many(tx: Tx) -> Write:
    opening, ids = await make_waiting(tx)
    return lambda tx: bulk_actions.run_bulk_action(
        tx, opening.id, "promote", ids[1:], LOCAL, reason="Both are needed", add_slots=True
    )


@write("WITHDRAWN", "WITHDRAWN", "PROMOTED", letters=("removed", "removed", *OFFER), again=True)
async def remove_many(tx: Tx) -> Write:
    opening, ids = await make_waiting(tx)
    return lambda tx: bulk_actions.run_bulk_action(
        tx, opening.id, "withdraw", ids[:2], LOCAL, reason="Not needed"
    )


@write("APPLIED", "APPLIED", letters=("applied", "applied"), again=True, hiring__applicant=2,
       hiring__application=2)  # fmt: skip
async def import_many(tx: Tx) -> Write:
    opening = await make_opening(tx, 1)
    entries = spreadsheets.parse_applicants(
        b"name,email\nAda,ada@example.org\nBen,ben@example.org\nAda,ada@example.org\n"
    )
    return lambda tx: imports.import_applicants(tx, opening.id, entries, LOCAL)


@write(again=True, hiring__blocklist=1, people__change=1)
async def block_an_address(tx: Tx) -> Write:
    address = f"{secrets.token_hex(8)}@example.org"
    return lambda tx: blocklist.add(tx, address, "Sends spam")


@write(hiring__blocklist=-1, people__change=1)
async def allow_an_address(tx: Tx) -> Write:
    address = f"{secrets.token_hex(8)}@example.org"
    await blocklist.add(tx, address, "Sends spam")
    return lambda tx: blocklist.remove(tx, address)


@write("WITHDRAWN", "PROMOTED", letters=("removed", *OFFER), again=True)
async def erase_an_applicant(tx: Tx) -> Write:
    opening = await make_opening(tx, 1)
    ada, _ = [await apply(tx, opening) for _ in range(2)]
    id = ada.application.applicant_id
    return lambda tx: privacy.erase_applicant(tx, id, LOCAL)


@write("CLOSED", "WITHDRAWN", "WITHDRAWN", letters=("closed",) * 2, hiring__letter_template=1)
async def close_and_tell(tx: Tx) -> Write:
    opening, _ = await make_waiting(tx)
    return lambda tx: closing.close_and_tell(tx, opening.id, LOCAL, tell=True, text=LETTER)


@write(again=True, hiring__letter_template=1)
async def save_letter(tx: Tx) -> Write:
    return lambda tx: letter_templates.save_text(tx, "closed", LETTER, LOCAL, based_on=0)


@write(again=True, people__change=1)
async def save_company(tx: Tx) -> Write:
    await company_identity.save_identity(tx, name="Mill")
    return lambda tx: company_identity.save_identity(tx, name="Bakery", accent="#336699")


@write(again=True, people__change=1)
async def save_logo(tx: Tx) -> Write:
    await company_identity.save_identity(tx, name="Mill")
    return lambda tx: company_identity.save_logo(tx, LogoImage("image/png", b"picture"))


@write("FORM_CHANGED", again=True, hiring__application_form=1)
async def save_form(tx: Tx) -> Write:
    opening = await make_opening(tx)
    return lambda tx: form_versions.save_form(tx, opening.id, FORM, LOCAL, based_on=0)


@write("APPLIED", letters=("applied",), hiring__application=1, hiring__form_answer=1)
async def apply_with_a_file(tx: Tx) -> Write:
    opening, submission = await make_form(tx)
    applicant = await make_applicant(tx)
    request = ApplyRequest(applicant.id, by_applicant(applicant.id), submission=submission)

    async def run(tx: Tx) -> object:
        return submissions.single_result(await submissions.apply_all(tx, opening.id, [request]))

    return run


class OneTransaction(RequestDatabase):
    """Lets a batch of a web process use the transaction of the test."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    @asynccontextmanager
    async def transaction(
        self, time_limit: float | None = None, *, reads_only: bool = False
    ) -> AsyncGenerator[Tx]:
        yield self._tx


@write("APPLIED", again=True, letters=("applied",), hiring__applicant=1, hiring__application=1,
       hiring__idempotent_response=1)  # fmt: skip
async def apply_with_a_key(tx: Tx) -> Write:
    opening = await make_opening(tx)
    key = KeyedRequest(secrets.token_bytes(32), b"fingerprint")

    def to_response(placement: Placement) -> NewResponse:
        return NewResponse(201, str(placement.application.id))

    async def run(tx: Tx) -> object:
        batches = ApplyBatches(OneTransaction(tx), None)
        idempotent = IdempotentApply(key, to_response)
        return await batches.apply_once(opening.id, ApplyRequest(ADA), idempotent)

    return run


@write(again=True, letters=("confirm",), hiring__apply_request=1)
async def ask_to_confirm_with_a_file(tx: Tx) -> Write:
    opening, submission = await make_form(tx)
    return lambda tx: apply_requests.submit(tx, opening.id, ADA, DAY, submission)


@write("APPLIED", again=True, letters=("applied",), hiring__application=1, hiring__form_answer=1,
       hiring__applicant=1)  # fmt: skip
async def confirm_with_a_file(tx: Tx) -> Write:
    opening, submission = await make_form(tx)
    await apply_requests.submit(tx, opening.id, ADA, DAY, submission)
    [id] = await fetch(
        tx, "SELECT id FROM hiring.apply_request WHERE opening_id = %s", [opening.id]
    )
    return lambda tx: apply_requests.confirm(tx, ConfirmationToken("request", id))


@write("WITHDRAWN", "PROMOTED", letters=OFFER, again=True)
async def disown_an_application(tx: Tx) -> Write:
    opening = await make_opening(tx, 1)
    request = ApplyRequest(ADA, confirm_window=DAY)
    [placed] = await submissions.apply_all(tx, opening.id, [request])
    await apply(tx, opening)
    token = ConfirmationToken("application", submissions.single_result([placed]).application.id)
    return lambda tx: apply_requests.end_unrequested(tx, token)


@write(again=True, letters=("message",))
async def remind_an_applicant(tx: Tx) -> Write:
    opening = await make_opening(tx)
    await submissions.apply_with_contact(tx, opening.id, ADA)
    return lambda tx: apply_requests.submit(tx, opening.id, ADA, DAY)


@write("EDITED", again=True)
async def set_quiet_hours(tx: Tx) -> Write:
    opening, _ = await make_waiting(tx)
    return lambda tx: lifecycle.edit(
        tx, opening.id, LOCAL, quiet_from=dt.time(21), quiet_until=dt.time(8)
    )


@write("EDITED", again=True, hiring__posting_details=1)
async def save_posting_details(tx: Tx) -> Write:
    opening = await make_opening(tx)
    details = PostingDetails("FULL_TIME", Decimal(45_000), Decimal(52_000), "EUR", "YEAR")
    return lambda tx: posting_details.save_details(tx, opening.id, details, LOCAL)


@write("EDITED", again=True, hiring__fairness_key=1)
async def publish_the_fairness_proof(tx: Tx) -> Write:
    opening, _ = await make_waiting(tx)
    return lambda tx: lifecycle.edit(tx, opening.id, LOCAL, fairness_proof=True)
