"""/hiring/company/email-templates: the letters to applicants in the company's own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode
from uuid import uuid4

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import (
    AppError,
    Conflict,
    Invalid,
    NotFound,
    OutsideError,
    RateLimited,
    Unavailable,
)
from jobmill.hiring import company_identity
from jobmill.hiring.company_identity import CompanyIdentity
from jobmill.hiring.messages import letter_templates, letter_variables, letters
from jobmill.hiring.messages.html_letters import render_html
from jobmill.hiring.messages.letter_templates import TemplateVersion
from jobmill.hiring.messages.letter_variables import LetterText
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from jobmill.outside.mail import Letter, Mailer
from jobmill.people import persons
from jobmill.settings import public_base_url
from jobmill.web import rate_limits
from jobmill.web.auth import Recruiter, Viewer, Visitor
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import Fields, read_optional_whole_number
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.site_settings import CurrentSiteSettings, SiteSettings
from jobmill.web.translations import say

router = APIRouter(prefix="/hiring/company/email-templates")


def letter_names() -> Mapping[str, str]:
    """What each letter is sent for, in the order in which an applicant may get them."""
    return {
        "confirm": say("Confirm your address"),
        "applied": say("Application received, with a place"),
        "waitlisted": say("Application received, on the waitlist"),
        "received": say("Application received, not decided yet"),
        "admitted": say("Application accepted, on the waitlist"),
        "rejected": say("Application not accepted"),
        "promoted": say("Offer of a place"),
        "reminder": say("Offer reminder"),
        "accepted": say("Offer accepted"),
        "decayed": say("Offer missed, back on the waitlist"),
        "lapsed": say("Last offer missed, application ended"),
        "position": say("New position on the waitlist"),
        "withdrawn": say("Withdrawal confirmed"),
        "removed": say("Removed by you"),
        "closed": say("Opening closed"),
        "message": say("Message from you"),
        "interview_booked": say("Interview booked"),
        "interview_moved": say("Interview moved"),
        "interview_cancelled": say("Interview cancelled"),
        "interview_over": say("Interview started before a place became free"),
    }


@dataclass(frozen=True, slots=True)
class EditedLetter:
    """A letter, in general or of one opening."""

    letter: str
    opening: Opening | None
    versions: list[TemplateVersion]
    company: CompanyIdentity
    default: LetterText
    """The text without the newest version."""
    own_address: str | None
    """Where a test letter goes; None: the person enters an address."""

    @property
    def path(self) -> str:
        query = urlencode({"opening": self.opening.id}) if self.opening else ""
        return f"/hiring/company/email-templates/{self.letter}" + (f"?{query}" if query else "")

    @property
    def version(self) -> int:
        return self.versions[0].version if self.versions else 0

    @property
    def saved(self) -> LetterText | None:
        return self.versions[0].text if self.versions else None


OpeningQuery = Annotated[int | None, Query(alias="opening", ge=1, le=MAX_ID)]


@router.get("")
async def list_letters(
    visitor: Viewer, page: Page, opening_id: OpeningQuery = None
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        opening = await openings.get(tx, opening_id) if opening_id else None
        current = await letter_templates.list_current(tx, opening_id)
    return page(
        "hiring/letters.html",
        names=letter_names(),
        changed={letter for letter, version in current.items() if version.text},
        opening=opening,
    )


async def _read_letter(
    letter: str,
    visitor: Viewer,
    db: Db,
    site_settings: CurrentSiteSettings,
    opening_id: OpeningQuery = None,
) -> EditedLetter:
    if letter not in letter_variables.VARIABLES:
        raise NotFound("Email template", letter[:40])
    async with db.transaction() as tx:
        opening = await openings.get(tx, opening_id) if opening_id else None
        general = await letter_templates.find_text(tx, letter, None) if opening else None
        return EditedLetter(
            letter,
            opening,
            await letter_templates.list_versions(tx, letter, opening_id),
            await company_identity.read_identity(tx),
            general or letters.read_default(letter, site_settings.settings.letters_dir),
            await _find_own_address(tx, visitor),
        )


async def _find_own_address(tx: Tx, visitor: Visitor) -> str | None:
    if visitor.person_id is None:
        return None
    return (await persons.get(tx, visitor.person_id)).email


CurrentLetter = Annotated[EditedLetter, Depends(_read_letter)]


@router.get("/{letter}")
async def show(edited: CurrentLetter, visitor: Viewer, page: Page) -> HTMLResponse:
    return _render(page, edited, edited.saved or edited.default)


@router.post("/{letter}")
async def change(edited: CurrentLetter, visitor: Recruiter, form: Fields, page: Page) -> Response:
    """Preview, save or reset the letter, or send it to oneself."""
    text = LetterText(form.get("subject", ""), form.get("body", "").replace("\r\n", "\n"))
    try:
        match form.get("action"):
            case "save":
                await _save(page.db, edited, text, visitor, form)
                return RedirectResponse(edited.path, 303)
            case "reset":
                await _save(page.db, edited, None, visitor, form)
                return RedirectResponse(edited.path, 303)
            case "test":
                rate_limits.check_test_letter(page.request, visitor)
                address = await _send_test(edited, text, form, page.site_settings)
                notice = say("A test email was sent to %(address)s.", address=address)
                return _render(page, edited, text, notice=notice)
            case _:
                return _render(page, edited, text)
    except (Invalid, Conflict, OutsideError, RateLimited, Unavailable) as error:
        return _render(page, edited, text, error=error)


async def _save(
    db: RequestDatabase,
    edited: EditedLetter,
    text: LetterText | None,
    visitor: Visitor,
    form: Mapping[str, str],
) -> None:
    based_on = read_optional_whole_number(form, "version", say("The form is not complete."))
    async with db.transaction() as tx:
        await letter_templates.save_text(
            tx,
            edited.letter,
            text,
            visitor.actor,
            opening_id=edited.opening.id if edited.opening else None,
            based_on=based_on,
        )


async def _send_test(
    edited: EditedLetter, text: LetterText, form: Mapping[str, str], site_settings: SiteSettings
) -> str:
    """Send the letter with sample values to its editor."""
    address = edited.own_address or form.get("address", "").strip()
    if not address:
        raise Invalid(say("Enter your email address."))
    filled = _fill_sample(edited, text, site_settings)
    mailer = Mailer(site_settings.settings)
    base = public_base_url(site_settings.settings)
    html = render_html(filled.body, edited.company, _company_name(edited), base)
    id = f"test.{uuid4().hex}@{mailer.domain}"
    await mailer.send(Letter("", address, filled.subject, filled.body, id, html))
    return address


def _company_name(edited: EditedLetter) -> str | None:
    return (edited.opening.employer if edited.opening else None) or edited.company.name


def _fill_sample(edited: EditedLetter, text: LetterText, site_settings: SiteSettings) -> LetterText:
    values = letters.sample_values(
        edited.letter,
        public_base_url(site_settings.settings),
        title=edited.opening.title if edited.opening else say("Baker"),
        company=_company_name(edited),
    )
    return letters.fill_text(letter_templates.check_text(edited.letter, text), values)


def _render(
    page: PageRenderer,
    edited: EditedLetter,
    text: LetterText,
    *,
    error: AppError | None = None,
    notice: str | None = None,
) -> HTMLResponse:
    preview = None
    try:
        preview = _fill_sample(edited, text, page.site_settings)
    except Invalid as problem:
        error = error or problem
    return page(
        "hiring/letter.html",
        edited=edited,
        name=letter_names().get(edited.letter, edited.letter),
        text=text,
        variables=sorted(letter_variables.VARIABLES[edited.letter]),
        preview=preview,
        notice=notice,
        sends_mail=page.site_settings.sends_mail,
        error=error,
    )
