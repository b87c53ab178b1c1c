"""/hiring/company: the company's name, logo and color, and openings on its own site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.datastructures import UploadFile

from jobmill.errors import AppError, Invalid
from jobmill.hiring import accent_colors, company_identity
from jobmill.hiring.company_identity import CompanyIdentity
from jobmill.hiring.logo_images import MAX_BYTES, read_logo_upload
from jobmill.web.auth import Recruiter, Viewer
from jobmill.web.banners import CurrentBanners
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/hiring/company")

SNIPPET = '<iframe src="{url}" title="{title}" width="100%" height="480" loading="lazy"></iframe>'


class AccentPreview(NamedTuple):
    light: str
    dark: str
    is_adjusted: bool
    """Whether the color itself would be hard to read in one of the themes."""


@router.get("")
async def show(visitor: Viewer, page: Page) -> HTMLResponse:
    return await _render(page)


@router.post("")
async def save(visitor: Recruiter, form: Fields, page: Page, banners: CurrentBanners) -> Response:
    try:
        async with page.db.transaction() as tx:
            await company_identity.save_identity(
                tx,
                name=form.get("name"),
                website=form.get("website"),
                accent=form.get("accent"),
            )
    except Invalid as error:
        return await _render(page, form, error)
    banners.expire()
    return RedirectResponse("/hiring/company", 303)


@router.post("/logo")
async def upload_logo(visitor: Recruiter, page: Page, banners: CurrentBanners) -> Response:
    try:
        logo = await read_logo_upload(await _read_file(page.request))
    except Invalid as error:
        return await _render(page, error=error)
    async with page.db.transaction() as tx:
        await company_identity.save_logo(tx, logo)
    banners.expire()
    return RedirectResponse("/hiring/company", 303)


async def _read_file(request: Request) -> bytes:
    async with request.form(max_files=1, max_fields=1, max_part_size=MAX_BYTES) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.size:
            raise Invalid(say("Choose a PNG or JPEG file."))
        return await file.read(MAX_BYTES + 1)


@router.post("/logo/remove")
async def remove_logo(visitor: Recruiter, db: Db, banners: CurrentBanners) -> Response:
    async with db.transaction() as tx:
        await company_identity.save_logo(tx, None)
    banners.expire()
    return RedirectResponse("/hiring/company", 303)


@router.get("/website")
async def show_website(visitor: Viewer, page: Page) -> HTMLResponse:
    """How to show the openings on the company's own site."""
    async with page.db.transaction() as tx:
        company = await company_identity.read_identity(tx)
    home = page.site_settings.link(page.request, "/openings")
    return page(
        "hiring/website.html",
        snippet=SNIPPET.format(url=f"{home}/embed", title=say("Openings")),
        home=home,
        company=company,
    )


async def _render(
    page: PageRenderer, typed: Mapping[str, str] | None = None, error: AppError | None = None
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        company = await company_identity.read_identity(tx)
    saved = {name: getattr(company, name) or "" for name in ("name", "website", "accent")}
    return page(
        "hiring/company.html",
        company=company,
        typed=saved | {name: typed.get(name, "") for name in saved} if typed else saved,
        accent=_preview_accent(company),
        error=error,
    )


def _preview_accent(company: CompanyIdentity) -> AccentPreview | None:
    if not company.accent:
        return None
    light = accent_colors.for_light_theme(company.accent)
    dark = accent_colors.for_dark_theme(company.accent)
    return AccentPreview(light, dark, company.accent != light or company.accent != dark)
