"""Files of a document: downloads, images of its pages, and what was sent."""

from __future__ import annotations

from fastapi import APIRouter, Response

from jobmill.db import Tx
from jobmill.documents import store, writing
from jobmill.documents.document import ApplicationDocument
from jobmill.documents.store import FORMATS, DocumentFormat
from jobmill.errors import NotFound
from jobmill.matching import matches
from jobmill.people.persons import Owner
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db
from jobmill.web.file_downloads import download_headers
from jobmill.web.parameters import PathId

router = APIRouter(prefix="/documents")


@router.get("/{document_id}/file/{version}/{format}")
async def download(
    document_id: PathId, version: PathId, format: DocumentFormat, visitor: Seeker, db: Db
) -> Response:
    """The file of a version as it prints now."""
    async with db.transaction() as tx:
        document, company = await _read_document(tx, document_id, version, visitor.owner)
    file = await writing.render_file(document, format)
    return _respond(document, company, format, file.data)


async def _read_document(
    tx: Tx, id: int, version: int, owner: Owner
) -> tuple[ApplicationDocument, str | None]:
    stored = await store.get(tx, id, version=version, owner=owner)
    match = await matches.get(tx, stored.match_id, owner=owner)
    return stored.document(), match.company


def _respond(
    document: ApplicationDocument, company: str | None, format: DocumentFormat, data: bytes
) -> Response:
    headers = download_headers(writing.file_name(document, company, format))
    return Response(data, media_type=FORMATS[format], headers=headers)


@router.get("/{document_id}/image/{version}/{number}")
async def show_image(
    document_id: PathId, version: PathId, number: PathId, visitor: Seeker, db: Db
) -> Response:
    """The picture of a page."""
    async with db.transaction() as tx:
        stored = await store.get(tx, document_id, version=version, owner=visitor.owner)
    images = await writing.draw_pages(stored.document())
    if number > len(images):
        raise NotFound("page", number)
    # A stored version never changes, but may belong to somebody else after a sign-in.
    headers = {"Cache-Control": "private, max-age=300", "Vary": "Cookie"}
    return Response(images[number - 1], media_type="image/png", headers=headers)


@router.get("/{document_id}/sent/{version}/{format}")
async def download_sent(
    document_id: PathId, version: PathId, format: DocumentFormat, visitor: Seeker, db: Db
) -> Response:
    """The frozen file, byte for byte as it was sent."""
    async with db.transaction() as tx:
        document, company = await _read_document(tx, document_id, version, visitor.owner)
        data = await store.get_sent(tx, document_id, version, format)
    return _respond(document, company, format, data)
