"""/confirm/{token}: confirm the email address of an application."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from jobmill.errors import Conflict, Gone, RateLimited
from jobmill.hiring.applications import apply_requests
from jobmill.hiring.messages import personal_links
from jobmill.web.auth import Links, request_id
from jobmill.web.dependencies import NO_STORE, Db, View, no_store
from jobmill.web.public_page import PublicPage
from jobmill.web.rate_limits import Public

router = APIRouter(prefix="/confirm/{token}")


@router.get("")
async def show(token: str, db: Db, view: View, links: Links) -> Response:
    """Only shows what would be confirmed: mail programs follow links, too, and must not apply."""
    confirmation = links.read_confirmation(token)
    async with db.transaction() as tx:
        state = await apply_requests.find_state(tx, confirmation)
        answered = await apply_requests.find_answers(tx, confirmation)
    return no_store(view("public/confirm.html", token=token, state=state, answered=answered))


@router.post("/not-me")
async def disown(token: str, visitor: Public, request: Request, db: Db, links: Links) -> Response:
    """End an application that another person made with this address."""
    confirmation = links.read_confirmation(token)
    async with db.transaction() as tx:
        await apply_requests.end_unrequested(tx, confirmation, request=request_id(request))
    return RedirectResponse(f"/confirm/{token}", 303, NO_STORE)


@router.post("")
async def confirm(token: str, visitor: Public, page: PublicPage, links: Links) -> Response:
    """Confirm, then show the applicant their page. The link was mailed, so its holder owns the address."""
    confirmation = links.read_confirmation(token)
    async with page.db.transaction() as tx:
        state = await apply_requests.find_state(tx, confirmation)
    try:
        async with page.db.transaction() as tx:
            applied = await apply_requests.confirm(
                tx,
                confirmation,
                request=request_id(page.request),
                daily_limit=page.site_settings.applications_per_day,
            )
            path = await personal_links.make_path(tx, links, applied.applicant_id)
    except (Conflict, Gone, RateLimited) as error:
        return no_store(
            page.render("public/confirm.html", token=token, state=state, answered=None, error=error)
        )
    return RedirectResponse(path, 303, NO_STORE)
