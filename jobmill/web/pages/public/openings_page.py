"""/openings: the public list of openings, and applying."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup
from pydantic import Field

from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import AppError, Invalid, RateLimited
from jobmill.hiring import company_identity
from jobmill.hiring.actor import by_applicant
from jobmill.hiring.applications import applicant_applications, submissions
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.forms import form_versions
from jobmill.hiring.forms.answers import AnswerEndsApplication
from jobmill.hiring.messages import personal_links
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.hiring.openings import posting_details, public_openings
from jobmill.hiring.openings.posting_details import PostingDetails
from jobmill.hiring.openings.public_openings import PublicOpening
from jobmill.hiring.records import applicants, openings
from jobmill.hiring.records.applicants import Applicant, Contact
from jobmill.hiring.records.applications import DuplicateApplication
from jobmill.web import (
    application_forms,
    consistent_reads,
    html_errors,
    job_feeds,
    proof_of_work,
    public_apply,
)
from jobmill.web.api.admission import require_proof
from jobmill.web.api.applications import make_apply_request
from jobmill.web.application_forms import FormState, Submitted, SubmittedForm
from jobmill.web.apply_batch import get_apply_batches
from jobmill.web.auth import LINK_COOKIE, Anyone, Links, Visitor
from jobmill.web.banners import get_banners
from jobmill.web.dependencies import NO_STORE, Db, RequestDatabase, View, no_store
from jobmill.web.form_keys import make_form_key
from jobmill.web.my_applications import describe_outcome, describe_placement
from jobmill.web.opening_posting_labels import describe_posting
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.public_page import PublicPage
from jobmill.web.rate_limits import Public
from jobmill.web.translations import say

router = APIRouter(prefix="/openings")

PAGE_SIZE = 50
FEED_SIZE = 1_000
MAX_SHOWN_ENTRIES = 1_000
FORM_KEY_PATTERN = re.compile(r"[\w-]{22,64}", re.ASCII)
PRIVATE_CACHE = {"Cache-Control": "private"}
"""Keeps a page with a key out of caches that several people share."""


class OpeningQuery(PageQuery):
    """The parameters of the list."""

    q: ShortText | None = None
    before: Annotated[int | None, Field(ge=1, le=MAX_ID)] = None


@dataclass(frozen=True, slots=True)
class RememberedApplicant:
    """The applicant of the link that this browser remembers."""

    applicant: Applicant
    standing: str | None
    """In a sentence, if they have applied for this opening."""


@router.get("")
async def show_list(db: Db, view: View, query: Annotated[OpeningQuery, Query()]) -> HTMLResponse:
    async with db.transaction() as tx:
        listed = await public_openings.search(
            tx, q=query.q, before=query.before, limit=PAGE_SIZE + 1
        )
    more = listed[PAGE_SIZE - 1].id if len(listed) > PAGE_SIZE else None
    return view("public/openings.html", openings=listed[:PAGE_SIZE], more=more, query=query)


@router.get("/feed.xml")
async def feed(page: PublicPage) -> Response:
    async with page.db.transaction() as tx:
        listed = await public_openings.search(tx, limit=FEED_SIZE)
        company = await company_identity.read_identity(tx)
    text = job_feeds.rss_feed(listed, company, page.link("/openings"))
    return Response(text, media_type="application/rss+xml")


@router.get("/{opening_id}")
async def show(opening_id: PathId, visitor: Anyone, page: PublicPage, links: Links) -> HTMLResponse:
    return await _page(await _read(page.db, opening_id, visitor), page, links)


@router.get("/{opening_id}/draw")
async def show_draw(opening_id: PathId, visitor: Public, db: Db, view: View) -> HTMLResponse:
    """The proof of a lottery, for everybody."""
    async with db.transaction() as tx:
        proof = await require_proof(tx, opening_id, limit=MAX_SHOWN_ENTRIES)
    return view("public/draw.html", proof=proof)


@router.post("/{opening_id}")
async def apply(
    opening_id: PathId, form: Submitted, visitor: Public, page: PublicPage, links: Links
) -> Response:
    """Apply, or show the form again with the error and the input.

    A repeated form, such as after a second tap or a lost response, gets the result of the first.
    """
    request, db = page.request, page.db
    typed = _TypedFields(form.get("name"), form.get("email"), form.get("key"))
    state: FormState | None = None
    form_request: _FormRequest | None = None
    try:
        public_apply.refuse_programs(form.get(public_apply.HONEYPOT, ""))
        try:
            form_request = await _read_form(form, visitor, page, opening_id)
        except Invalid:
            # The corrected form need not send the files again.
            state = await application_forms.read_form_state(request, db, visitor, opening_id, form)
            raise
        placement = await _find_repeated(db, opening_id, form_request)
        if placement is None:
            # Not for a repeated form: its files are stored, and the opening may be closed by now.
            state = await application_forms.read_form_state(request, db, visitor, opening_id, form)
            placement = await _apply(opening_id, form, form_request, state, visitor, page)
    except AnswerEndsApplication as error:
        async with db.transaction() as tx:
            opening = await public_openings.get(tx, opening_id)
        return page.render("public/refused.html", opening=opening, error=error)
    except AppError as error:
        # The first attempt may have ended meanwhile, with the files that this one refers to.
        placement = await _find_repeated(db, opening_id, form_request) if form_request else None
        if placement is None or form_request is None:
            shown = await _read(db, opening_id, visitor)
            shown = replace(shown, form=state or shown.form)
            return await _page(shown, page, links, error=error, typed=typed)
    if placement is None:
        # The same for every address, whether it has applied or not.
        async with db.transaction() as tx:
            opening = await public_openings.get(tx, opening_id)
        email = form_request.contact.email
        return no_store(page.render("public/check_mail.html", 202, opening=opening, email=email))
    path = await _personal_path(placement, form_request, visitor, page, links)
    if path:
        return RedirectResponse(path, 303, NO_STORE)
    async with db.transaction() as tx:
        # Also of a closed opening: the form may be a repeated one.
        opening = await openings.get(tx, opening_id)
    return page.render(
        "public/applied.html",
        201,
        opening=opening,
        message=describe_placement(placement, is_entry=opening.admission == "lottery"),
        application=placement.application,
        email=form_request.contact.email,
        sends_mail=page.site_settings.sends_mail,
        for_company=visitor.is_company,
    )


@dataclass(frozen=True, slots=True)
class _TypedFields:
    """What the form shows again after an error."""

    name: str = ""
    email: str = ""
    key: str = ""


NOTHING_TYPED = _TypedFields()


async def _apply(
    opening_id: int,
    form: SubmittedForm,
    form_request: _FormRequest,
    state: FormState,
    visitor: Visitor,
    page: PublicPage,
) -> Placement | None:
    """Apply; None if the owner of the address must confirm first, whether they have applied or not."""
    request, contact = page.request, form_request.contact
    await public_apply.check_limits(
        request, visitor, opening_id, contact.email_key, form.get("proof")
    )
    submission = await application_forms.make_submission(page.db, opening_id, state)
    if form_request.must_confirm:
        async with page.db.transaction() as tx:
            await public_apply.submit_unconfirmed(tx, request, opening_id, contact, submission)
        return None
    return await get_apply_batches(request).apply(
        opening_id, replace(form_request.apply_request, submission=submission)
    )


async def _find_repeated(
    db: RequestDatabase, opening_id: int, form_request: _FormRequest
) -> Placement | None:
    if form_request.must_confirm:
        return None
    async with db.transaction() as tx:
        return await submissions.find_repeated(tx, opening_id, form_request.apply_request)


@dataclass(frozen=True, slots=True)
class _FormRequest:
    """A submitted form: for the remembered applicant, or with the name and address in it."""

    contact: Contact
    apply_request: ApplyRequest
    must_confirm: bool
    remembered: bool


async def _read_form(
    form: SubmittedForm, visitor: Visitor, page: PublicPage, opening_id: int
) -> _FormRequest:
    must_confirm = public_apply.must_confirm(page.request, visitor)
    if form.get("as") == "me" and visitor.applicant_id is not None:
        contact, confirmed = await public_apply.find_contact(page.request, visitor.applicant_id)
        actor = _with_key(visitor, form, opening_id, contact).actor
        by = actor if visitor.is_company else by_applicant(visitor.applicant_id, actor.request)
        apply_request = ApplyRequest(visitor.applicant_id, by)
        return _FormRequest(contact, apply_request, must_confirm and not confirmed, True)
    contact = applicants.parse_contact(
        form.get("name", ""),
        form.get("email", ""),
        fold=page.site_settings.fold_aliases,
        language=public_apply.find_language(page.request, visitor),
    )
    apply_request = make_apply_request(contact, _with_key(visitor, form, opening_id, contact))
    return _FormRequest(contact, apply_request, must_confirm, False)


def _with_key(visitor: Visitor, form: SubmittedForm, opening_id: int, contact: Contact) -> Visitor:
    """The visitor with a request id of the form's key, which is the same if the form is sent again.

    A browser with the key is led to the applicant's page. The log has only a digest, with the opening and the
    address in it, and no client can choose a request id with a space. A form without a key gets one of its own
    instead of the client's request id, which others may know: it repeats no other.
    """
    key = _valid_key(form.get("key")) or make_form_key()
    digest = hashlib.sha256(f"{opening_id}\n{contact.email_key}\n{key}".encode()).hexdigest()
    return replace(visitor, actor=replace(visitor.actor, request=f"form {digest}"))


def _valid_key(key: str) -> str | None:
    return key if FORM_KEY_PATTERN.fullmatch(key) else None


async def _personal_path(
    placement: Placement,
    form_request: _FormRequest,
    visitor: Visitor,
    page: PublicPage,
    links: LinkSigner,
) -> str | None:
    """The path of the applicant's page, if the visitor may see it.

    A stranger may have entered the address of an earlier applicant: only a new applicant's page
    shows nothing but this application.
    """
    cookies = page.request.cookies
    if form_request.remembered and LINK_COOKIE in cookies:
        return f"/my/{cookies[LINK_COOKIE]}"
    applicant_id = placement.application.applicant_id
    async with page.db.transaction() as tx:
        if visitor.local:
            return await personal_links.issue_path(tx, links, applicant_id, visitor.actor.name)
        if not visitor.is_company and placement.is_new_applicant:
            return await personal_links.make_path(tx, links, applicant_id)
    return None


@dataclass(frozen=True, slots=True)
class _ShownOpening:
    """What the page of an opening shows."""

    opening: PublicOpening
    me: RememberedApplicant | None
    form: FormState


async def _read(db: RequestDatabase, id: int, visitor: Visitor) -> _ShownOpening:
    async def work(tx: Tx) -> _ShownOpening:
        opening = await public_openings.get(tx, id)
        return _ShownOpening(
            opening,
            await _find_remembered(tx, opening, visitor.applicant_id),
            FormState.of(await form_versions.find_current(tx, id)),
        )

    return await consistent_reads.read_opening(db, id, work)


async def _find_remembered(
    tx: Tx, opening: PublicOpening, applicant_id: int | None
) -> RememberedApplicant | None:
    if applicant_id is None:
        return None
    standing = await applicant_applications.find_live(tx, opening.id, applicant_id)
    is_entry = opening.admission == "lottery"
    text = describe_outcome(standing, None, is_entry=is_entry) if standing else None
    return RememberedApplicant(await applicants.get(tx, applicant_id), text)


async def _page(
    shown: _ShownOpening,
    page: PublicPage,
    links: LinkSigner,
    *,
    error: AppError | None = None,
    typed: _TypedFields = NOTHING_TYPED,
) -> HTMLResponse:
    opening, me, site_settings = shown.opening, shown.me, page.site_settings
    challenge = ""
    async with page.db.transaction() as tx:
        details = await posting_details.get_details(tx, opening.id)
        if site_settings.proof_of_work_bits:
            challenge = proof_of_work.make_challenge(links, opening.id, await server_time(tx))
    response = page.render(
        "public/opening.html",
        html_errors.status_code(error) if error else 200,
        opening=opening,
        me=me,
        form=shown.form,
        data=_structured_data(opening, details, page),
        facts=describe_posting(details),
        error=_error_text(error, sends_mail=site_settings.sends_mail),
        sends_mail=site_settings.sends_mail,
        confirms=site_settings.confirm_address != "off",
        bits=site_settings.proof_of_work_bits,
        challenge=challenge,
        name=typed.name,
        email=typed.email,
        key=_valid_key(typed.key) or make_form_key(),
    )
    response.headers.update(NO_STORE if me else PRIVATE_CACHE)
    if isinstance(error, RateLimited):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def _structured_data(opening: PublicOpening, details: PostingDetails, page: PublicPage) -> Markup:
    company = get_banners(page.request).company
    logo = page.link(f"/openings/logo?v={company.logo_hash}") if company.logo_hash else None
    return job_feeds.json_ld(opening, page.link(f"/openings/{opening.id}"), company, details, logo)


def _error_text(error: AppError | None, *, sends_mail: bool) -> str | None:
    if isinstance(error, DuplicateApplication):
        if sends_mail:
            return say(
                "This email address was already used to apply. Use the link in our email to see the status."
            )
        return say(
            "This email address was already used to apply. Ask the company for a link to see the status."
        )
    return str(error) if error else None
