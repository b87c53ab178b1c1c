"""Openings on the company's own site: a page to embed, JSON Feed, and the logo and color of public pages."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, JSONResponse

from jobmill.errors import NotFound
from jobmill.hiring import accent_colors, company_identity
from jobmill.hiring.openings import posting_details, public_openings
from jobmill.web import job_feeds
from jobmill.web.dependencies import Db, View
from jobmill.web.middleware import EMBEDDABLE_HEADERS
from jobmill.web.public_page import PublicPage

router = APIRouter(prefix="/openings")

FEED_SIZE = 1_000
EMBED_SIZE = 100
SHARED = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
"""Scripts and pages of other sites may read this: it is public and the same for everyone."""
ONE_YEAR = "public, max-age=31536000, immutable"
STYLE = """:root {{ --busy: {light}; --accent: {light}; }}
@media (prefers-color-scheme: dark) {{ :root {{ --busy: {dark}; --accent: {dark}; }} }}
"""


@router.get("/feed.json")
async def json_feed(page: PublicPage) -> Response:
    async with page.db.transaction() as tx:
        openings = await public_openings.search(tx, limit=FEED_SIZE)
        details = await posting_details.find_details(tx, [opening.id for opening in openings])
        company = await company_identity.read_identity(tx)
    feed = job_feeds.json_feed(openings, details, company, page.link("/openings"))
    return JSONResponse(feed, headers=SHARED, media_type="application/feed+json")


@router.get("/embed")
async def embed(db: Db, view: View) -> HTMLResponse:
    """The list of openings for a frame of another site; its links open the whole page."""
    async with db.transaction() as tx:
        openings = await public_openings.search(tx, limit=EMBED_SIZE)
    response = view("public/embed.html", openings=openings)
    response.headers.update(EMBEDDABLE_HEADERS)
    return response


@router.get("/company.css")
async def style(db: Db) -> Response:
    """The company's color, adjusted for both themes."""
    async with db.transaction() as tx:
        accent = (await company_identity.read_identity(tx)).accent
    text = (
        STYLE.format(
            light=accent_colors.for_light_theme(accent), dark=accent_colors.for_dark_theme(accent)
        )
        if accent
        else ""
    )
    return Response(text, media_type="text/css")


@router.get("/logo")
async def logo(db: Db) -> Response:
    async with db.transaction() as tx:
        image = await company_identity.read_logo(tx)
    if image is None:
        raise NotFound("Logo", "of the company")
    headers = SHARED | {"Cache-Control": ONE_YEAR, "Content-Disposition": "inline"}
    return Response(image.data, media_type=image.media_type, headers=headers)
