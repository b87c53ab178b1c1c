"""/documents/{document_id}: edit a document, see it as it prints, and see how it differs from the profile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.documents import document_files, drafting, profile_changes, rewording, store, text_file
from jobmill.documents.document import (
    PAPERS,
    TEMPLATES,
    ApplicationDocument,
    DocumentKind,
    DocumentLine,
    PrintedHeader,
    PrintedSection,
    edit_line,
    map_lines,
    move_part,
    printed_header,
    printed_sections,
)
from jobmill.documents.store import FORMATS, DocumentFormat, StoredDocument
from jobmill.errors import AppError, ChangedMeanwhile, Invalid, NotFound
from jobmill.pipelines import documents as document_pipeline
from jobmill.web import job_view
from jobmill.web.api.job_search.documents import (
    download_document,
    download_sent_document,
    submit_rewording,
)
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db, View
from jobmill.web.form import (
    WHOLE_NUMBER,
    Fields,
    LongForm,
    last_value,
    read_long_form,
    read_whole_number,
)
from jobmill.web.page_query import PageQuery
from jobmill.web.pages.documents import labels
from jobmill.web.pages.documents.model_access import find_model_access
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/documents")


class DocumentPreview(NamedTuple):
    header: PrintedHeader
    sections: Sequence[PrintedSection]
    words: int
    pages: int
    unprintable: str


class EditorQuery(PageQuery):
    saved: Annotated[str, Query(max_length=20)] | None = None
    """What was done last."""


router.get("/{document_id}/file/{version}/{format}")(download_document)
router.get("/{document_id}/sent/{version}/{format}")(download_sent_document)


@router.post("/write/{match_id}/{kind}")
async def write(match_id: PathId, kind: DocumentKind, visitor: Seeker, db: Db) -> RedirectResponse:
    """Write a document from the profile, or open the one that the match has."""
    async with db.transaction() as tx:
        material = await drafting.read_material(tx, match_id, owner=visitor.owner)
        id = await store.find_id(tx, match_id, kind)
    if id is None:
        document = await drafting.draft_document(material, kind)
        async with db.transaction() as tx:
            id = await store.create(
                tx, match_id, document, owner=visitor.owner, actor=visitor.actor.name
            )
    return RedirectResponse(f"/documents/{id}", 303)


@router.get("/{document_id}")
async def show(
    document_id: PathId, query: Annotated[EditorQuery, Query()], visitor: Seeker, page: Page
) -> HTMLResponse:
    return await _render(page, document_id, saved=query.saved)


async def _render(
    page: Page,
    document_id: int,
    *,
    unsaved: ApplicationDocument | None = None,
    saved: str | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    """The editor; `unsaved` is what a refused form contained."""
    async with page.db.transaction() as tx:
        stored = await store.get(tx, document_id, owner=page.visitor.owner)
        material = await drafting.read_material(tx, stored.match_id, owner=page.visitor.owner)
        profile_id = material.version.profile_id
        is_busy = await document_pipeline.is_being_written(tx, stored.match_id, profile_id)
        versions = await store.find_versions(tx, document_id)
        sent = await store.find_sent(tx, document_id)
        access = await find_model_access(tx, page.site_settings)
    document = unsaved or stored.document()
    preview = await _preview(document)
    pages = preview.pages if unsaved is None else await _count_pages(stored)
    return page(
        "documents/editor.html",
        topics=["matches", "queue"],
        stored=stored,
        document=document,
        match=material.match,
        preview=preview,
        image_numbers=range(1, pages + 1),
        changes=profile_changes.compare_with_profile(document, material.version.profile()),
        question=rewording.build_question(document, material.posting),
        lines_to_send=len(rewording.lines_to_send(document)),
        access=access,
        is_busy=is_busy,
        versions=versions,
        sent=sent,
        formats=FORMATS,
        labels=labels,
        web_url=job_view.web_url,
        saved=saved,
        error=error,
    )


async def _preview(document: ApplicationDocument) -> DocumentPreview:
    typeset = await document_files.render_file(document, "pdf")
    return DocumentPreview(
        printed_header(document),
        printed_sections(document),
        text_file.count_words(document),
        typeset.pages,
        typeset.unprintable,
    )


async def _count_pages(stored: StoredDocument) -> int:
    return (await document_files.render_file(stored.document(), "pdf")).pages


@router.post("/{document_id}/preview")
async def preview(
    document_id: PathId, request: Request, visitor: Seeker, db: Db, view: View
) -> HTMLResponse:
    """How the document would print with what the form says; nothing is saved."""
    form = await read_long_form(request)
    async with db.transaction() as tx:
        stored = await store.get(tx, document_id, owner=visitor.owner)
    document = _apply_form(stored.document(), form)
    return view("documents/_preview.html", document=document, preview=await _preview(document))


@router.post("/{document_id}")
async def save(document_id: PathId, visitor: Seeker, page: Page) -> Response:
    """Save the form as a new version. If another tab saved one meanwhile, the page shows the form's
    changes on top of it, to save them with a second click."""
    form = await read_long_form(page.request)
    async with page.db.transaction() as tx:
        stored = await store.get(tx, document_id, owner=visitor.owner)
    document = _apply_form(stored.document(), form)
    try:
        async with page.db.transaction() as tx:
            await store.save(
                tx,
                document_id,
                document,
                based_on=_read_version(form),
                owner=visitor.owner,
                actor=visitor.actor.name,
            )
    except ChangedMeanwhile as error:
        return await _render(page, document_id, unsaved=document, error=error)
    moved = form.get("move", ("",))[-1].partition(" ")[2]
    anchor = f"#line-{moved}" if moved else ""
    return RedirectResponse(f"/documents/{document_id}?saved=edited{anchor}", 303)


def _apply_form(document: ApplicationDocument, form: LongForm) -> ApplicationDocument:
    """The document with what the form says about its lines. Lines that the form does not show stay."""
    enabled = set(form.get("on", ()))

    def changed(line: DocumentLine) -> DocumentLine:
        texts = form.get(f"text.{line.key}")
        if not texts:
            return line
        edited = edit_line(line, texts[-1])
        return edited.model_copy(update={"enabled": line.key in enabled})

    document = map_lines(document, changed)
    document = document.model_copy(update=_read_layout(form))
    direction, _, key = last_value(form, "move").partition(" ")
    if direction in ("up", "down"):
        document = move_part(document, key, direction)
    return document


def _read_layout(form: LongForm) -> dict[str, str]:
    layout: dict[str, str] = {}
    if (template := last_value(form, "template")) in TEMPLATES:
        layout["template"] = template
    if (paper := last_value(form, "paper")) in PAPERS:
        layout["paper"] = paper
    return layout


def _read_version(form: LongForm) -> int:
    """The version that the page showed."""
    typed = last_value(form, "version")
    if not WHOLE_NUMBER.fullmatch(typed):
        raise Invalid(say("The form is not valid. Reload the page, then try again."))
    return int(typed)


@router.post("/{document_id}/rebuild")
async def rebuild(document_id: PathId, form: Fields, visitor: Seeker, db: Db) -> RedirectResponse:
    """Write the document again from the newest profile, as a new version."""
    async with db.transaction() as tx:
        stored = await store.get(tx, document_id, owner=visitor.owner)
        material = await drafting.read_material(tx, stored.match_id, owner=visitor.owner)
    former = stored.document()
    document = await drafting.draft_document(material, stored.kind)
    document = document.model_copy(update={"template": former.template, "paper": former.paper})
    async with db.transaction() as tx:
        based_on = read_whole_number(
            form, "version", say("The form is not valid. Reload the page, then try again.")
        )
        await store.save(
            tx,
            document_id,
            document,
            based_on=based_on,
            what="written",
            owner=visitor.owner,
            actor=visitor.actor.name,
        )
    return RedirectResponse(f"/documents/{document_id}?saved=written", 303)


@router.post("/{document_id}/restore/{version}")
async def restore(
    document_id: PathId, version: PathId, form: Fields, visitor: Seeker, db: Db
) -> RedirectResponse:
    """Save an older version again as the newest."""
    async with db.transaction() as tx:
        older = await store.get(tx, document_id, version=version, owner=visitor.owner)
        await store.save(
            tx,
            document_id,
            older.document(),
            based_on=read_whole_number(
                form, "version", say("The form is not valid. Reload the page, then try again.")
            ),
            what="restored",
            owner=visitor.owner,
            actor=visitor.actor.name,
        )
    return RedirectResponse(f"/documents/{document_id}?saved=restored", 303)


@router.post("/{document_id}/reword")
async def reword(document_id: PathId, visitor: Seeker, db: Db) -> RedirectResponse:
    """Let a worker ask the model; the page shows the new version when it is there."""
    async with db.transaction() as tx:
        await submit_rewording(tx, document_id, visitor)
    return RedirectResponse(f"/documents/{document_id}?saved=queued", 303)


@router.post("/{document_id}/sent")
async def mark_sent(document_id: PathId, form: Fields, visitor: Seeker, db: Db) -> RedirectResponse:
    """Freeze the file that the person sent."""
    format = read_format(form.get("format", ""))
    version = read_whole_number(
        form, "version", say("The form is not valid. Reload the page, then try again.")
    )
    async with db.transaction() as tx:
        stored = await store.get(tx, document_id, version=version, owner=visitor.owner)
    file = await document_files.render_file(stored.document(), format)
    async with db.transaction() as tx:
        await store.mark_sent(
            tx,
            document_id,
            version,
            format,
            file.data,
            owner=visitor.owner,
            actor=visitor.actor.name,
        )
    return RedirectResponse(f"/documents/{document_id}?saved=sent#sent", 303)


@router.get("/{document_id}/image/{version}/{number}")
async def show_image(
    document_id: PathId, version: PathId, number: PathId, visitor: Seeker, db: Db
) -> Response:
    """The picture of a page."""
    async with db.transaction() as tx:
        stored = await store.get(tx, document_id, version=version, owner=visitor.owner)
    images = await document_files.draw_pages(stored.document())
    if number > len(images):
        raise NotFound("page", number)
    # A stored version never changes, but may belong to another person after a sign-in.
    headers = {"Cache-Control": "private, max-age=300", "Vary": "Cookie"}
    return Response(images[number - 1], media_type="image/png", headers=headers)


def read_format(name: str) -> DocumentFormat:
    for format in FORMATS:
        if format == name:
            return format
    raise Invalid(say("Choose one of these formats: %(names)s.", names=", ".join(FORMATS)))
