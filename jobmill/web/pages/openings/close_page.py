"""/hiring/{opening_id}/close: close an opening, and decide what waiting applicants are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.hiring.actor import Actor
from jobmill.hiring.applications import closing
from jobmill.hiring.messages import letter_templates, letter_variables, letters
from jobmill.hiring.messages.letter_variables import LetterText
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from jobmill.web import html_errors
from jobmill.web.auth import Recruiter
from jobmill.web.banners import get_banners
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.form import Fields
from jobmill.web.pages.openings import opening_page
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.site_settings import SiteSettings, get_site_settings
from jobmill.web.translations import say

router = APIRouter(prefix="/hiring/{opening_id}/close")


@dataclass(frozen=True, slots=True)
class CloseForm:
    """The choice for waiting applicants, and the letter to them."""

    waiting: str
    """`tell`, `end` or `keep`."""
    text: LetterText
    reason: str = ""
    """What they read on their personal page, and as `$text` in the letter."""


@router.get("")
async def show(opening_id: PathId, visitor: Recruiter, page: Page) -> HTMLResponse:
    site_settings = page.site_settings
    async with page.db.transaction() as tx:
        text = await _find_letter(tx, opening_id, site_settings)
    form = CloseForm("tell" if site_settings.sends_mail else "end", text)
    return await _render(page, opening_id, form)


@router.post("")
async def close(opening_id: PathId, visitor: Recruiter, fields: Fields, page: Page) -> Response:
    """Close the opening, or show the preview of the letter."""
    form = _read_form(fields)
    if fields.get("action") == "preview":
        return await _render(page, opening_id, form)
    try:
        async with page.db.transaction(LONG_TIMEOUT) as tx:
            before = await openings.get(tx, opening_id)
            await _close(tx, opening_id, form, visitor.actor, page.site_settings)
            after = await openings.get(tx, opening_id)
    except (Invalid, Conflict) as error:
        return await _render(page, opening_id, form, error)
    return opening_page.redirect_to_changes(before, after)


def _read_form(fields: Mapping[str, str]) -> CloseForm:
    text = LetterText(fields.get("subject", ""), fields.get("body", "").replace("\r\n", "\n"))
    return CloseForm(fields.get("waiting", ""), text, fields.get("reason", ""))


async def _close(
    tx: Tx, opening_id: int, form: CloseForm, by: Actor, site_settings: SiteSettings
) -> None:
    match form.waiting:
        case "keep":
            await lifecycle.close(tx, opening_id, by)
        case "end":
            await closing.close_and_tell(tx, opening_id, by, tell=False, reason=form.reason)
        case "tell":
            text = letter_templates.check_text(closing.LETTER, form.text)
            is_saved = text == await _find_letter(tx, opening_id, site_settings)
            await closing.close_and_tell(
                tx, opening_id, by, tell=True, text=None if is_saved else text, reason=form.reason
            )
        case _:
            raise Invalid(say("Choose what happens to the people who are waiting."))


async def _find_letter(tx: Tx, opening_id: int, site_settings: SiteSettings) -> LetterText:
    saved = await letter_templates.find_text(tx, closing.LETTER, opening_id)
    return saved or letters.read_default(closing.LETTER, site_settings.settings.letters_dir)


async def _render(
    page: PageRenderer, opening_id: int, form: CloseForm, error: AppError | None = None
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        opening = await openings.get(tx, opening_id)
        effect = await closing.count_effect(tx, opening)
    preview, problem = _preview(page.request, opening, form)
    return page(
        "openings/close.html",
        html_errors.status_code(error) if error else 200,
        opening=opening,
        effect=effect,
        is_too_many=effect.ended > closing.MAX_ENDED,
        max_ended=closing.MAX_ENDED,
        form=form,
        preview=preview,
        variables=sorted(letter_variables.VARIABLES[closing.LETTER]),
        error=str(error or problem or "") or None,
    )


def _preview(
    request: Request, opening: Opening, form: CloseForm
) -> tuple[LetterText | None, Invalid | None]:
    """The letter with sample values, or what is wrong with it."""
    company = opening.employer or get_banners(request).company.name
    base = get_site_settings(request).link(request, "")
    values = letters.sample_values(closing.LETTER, base, title=opening.title, company=company)
    try:
        text = letter_templates.check_text(closing.LETTER, form.text)
        return letters.fill_text(text, values | {"text": form.reason}), None
    except Invalid as error:
        return None, error
