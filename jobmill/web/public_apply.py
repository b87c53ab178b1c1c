"""Applications of people without sign-in: limits, proof of work, and confirmation of the address."""

from __future__ import annotations

from fastapi import Request

from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import Invalid
from jobmill.hiring.applications import apply_requests
from jobmill.hiring.applications.submissions import AppliedTooOften, ApplyRequest
from jobmill.hiring.forms.answers import FormSubmission
from jobmill.hiring.records import applicants, apply_limits
from jobmill.hiring.records.applicants import Contact
from jobmill.hiring.records.applications import DuplicateApplication
from jobmill.hiring.records.blocklist import AddressBlocked
from jobmill.web import auth, proof_of_work, translations
from jobmill.web.apply_batch import get_apply_batches
from jobmill.web.auth import Visitor
from jobmill.web.site_settings import get_site_settings
from jobmill.web.translations import say

HONEYPOT = "website"
"""A field that people do not see; programs that fill in every field do."""


def refuse_programs(honeypot: str) -> None:
    """Refuse openly: a browser may have filled in the hidden field for a person."""
    if honeypot:
        raise Invalid(say("Leave the field “Website” empty, then send the form again."))


def find_language(request: Request, visitor: Visitor) -> str | None:
    """The language of letters that the applicant's browser asks for; None if the company applies for them."""
    if visitor.is_company:
        return None
    preferred = translations.list_preferred(request.headers.get("accept-language", ""))
    return preferred[0] if preferred else None


async def find_contact(request: Request, applicant_id: int) -> tuple[Contact, bool]:
    """The name and address of an applicant, and whether they have confirmed the address."""
    async with get_apply_batches(request).db.transaction() as tx:
        applicant = await applicants.get(tx, applicant_id)
    fold = get_site_settings(request).fold_aliases
    key = applicants.make_email_key(applicant.email, fold=fold)
    return Contact(applicant.name, applicant.email, key), applicant.confirmed_at is not None


async def check_limits(
    request: Request, visitor: Visitor, opening_id: int, email_key: str, proof: str
) -> None:
    """Count the application against the limits of the public; raises RateLimited. Staff have none."""
    if visitor.is_company:
        return
    site_settings = get_site_settings(request)
    host = auth.get_client_resolver(request).address(request)
    limits = apply_limits.list_limits(
        opening_id, host, email_key, site_settings.public_apply_limits
    )
    db = get_apply_batches(request).db
    bits = site_settings.proof_of_work_bits
    signer = await auth.get_signer(request, db) if bits else None
    if not (limits or signer):
        return
    async with db.transaction() as tx:
        if signer:
            at = await server_time(tx)
            digest = proof_of_work.check_proof(signer, proof, opening_id, bits, at)
            limits += (
                [apply_limits.proof_limit(digest)]
                if digest
                else apply_limits.list_limits_without_proof(opening_id, host)
            )
        await apply_limits.count_attempt(tx, limits)


def must_confirm(request: Request, visitor: Visitor) -> bool:
    return not visitor.is_company and get_site_settings(request).confirm_address != "off"


async def submit_unconfirmed(
    tx: Tx,
    request: Request,
    opening_id: int,
    contact: Contact,
    submission: FormSubmission | None,
) -> None:
    """Mail the owner of the address what to do next; raises Conflict if the opening takes no applications."""
    site_settings = get_site_settings(request)
    window = site_settings.confirm_window
    if site_settings.confirm_address == "before":
        await apply_requests.submit(tx, opening_id, contact, window, submission)
        return
    await apply_requests.require_open(tx, opening_id)
    apply_request = ApplyRequest(
        contact,
        confirm_window=window,
        request_id=auth.request_id(request),
        submission=submission,
    )
    try:
        await get_apply_batches(request).apply_alone(tx, opening_id, apply_request)
    except DuplicateApplication:
        await apply_requests.remind_applicant(tx, opening_id, contact.email_key)
    except (AddressBlocked, AppliedTooOften):
        # Only the owner of an address may learn this about it.
        pass
