"""jobmill document: resumes and cover letters for matches from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from jobmill import queue
from jobmill.cli.support import lookups, output, session
from jobmill.cli.support.lookups import ProfileName
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Database, Tx
from jobmill.documents import document_files, drafting, store, text_file
from jobmill.documents.document import PAPERS, TEMPLATES, Paper, Template
from jobmill.documents.store import DocumentFormat, DocumentSummary
from jobmill.errors import Invalid
from jobmill.matching import matches
from jobmill.pipelines import documents as document_pipeline
from jobmill.queue import AcceptedItem

app = typer.Typer(no_args_is_help=True, callback=lookups.choose_person)
Id = Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the document.")]
Format = Annotated[DocumentFormat, typer.Option("--format", help="pdf, docx or txt.")]


@app.command()
def write(
    match: Annotated[int, typer.Argument(metavar="MATCH", min=1, help="Number of the match.")],
    kind: Annotated[Literal["resume", "letter"], typer.Option(help="What to write.")] = "resume",
    template: Annotated[Template | None, typer.Option(help=", ".join(TEMPLATES))] = None,
    paper: Annotated[Paper | None, typer.Option(help=", ".join(PAPERS))] = None,
    as_json: AsJson = False,
) -> None:
    """Write a resume or a cover letter for a match from its profile, without a model.

    If the match has one, it stays as it is; --template and --paper save a new version of it.
    """
    layout = {"template": template, "paper": paper}
    changes = {name: value for name, value in layout.items() if value}

    async def act(database: Database) -> dict[str, object]:
        actor = lookups.current_user()
        async with database.transaction() as tx:
            owner = await lookups.find_owner(tx)
            material = await drafting.read_material(tx, match, owner=owner)
            id = await store.find_id(tx, match, kind)
        draft = await drafting.draft_document(material, kind) if id is None else None
        async with database.transaction() as tx:
            if draft:
                id = await store.create(
                    tx, match, draft.model_copy(update=changes), owner=owner, actor=actor
                )
            assert id is not None
            stored = await store.lock(tx, id, owner=owner)
            document = stored.document().model_copy(update=changes)
            version = await store.save(
                tx, id, document, based_on=stored.version, owner=owner, actor=actor
            )
        pages = (await document_files.render_file(document, "pdf")).pages
        return {
            "id": id,
            "match": match,
            "kind": kind,
            "version": version,
            "pages": pages,
            "words": text_file.count_words(document),
        }

    record = session.with_database(act)
    output.print_record(record, as_json=as_json)


@app.command()
def best(
    reword: Annotated[
        bool, typer.Option("--reword", help="Let the model reword lines, within the budget.")
    ] = False,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """Queue the resumes and letters of the ten best matches; a worker writes them."""

    async def act(tx: Tx) -> dict[str, object]:
        version = await lookups.choose_profile(tx, profile)
        items = await document_pipeline.list_best_items(
            tx, version.profile_id, reword=reword, actor=lookups.current_user()
        )
        answers = await queue.submit_all(tx, items) if items else []
        queued = sum(isinstance(answer, AcceptedItem) for answer in answers)
        return {"queued": queued, "refused": len(answers) - queued}

    output.print_record(session.in_transaction(act, declared=True), as_json=as_json)


@app.command("list")
def list_documents(limit: Limit = 100, as_json: AsJson = False) -> None:
    """List documents, the last saved first."""

    async def read(tx: Tx) -> list[DocumentSummary]:
        return await store.find_all(tx, owner=await lookups.find_owner(tx), limit=limit)

    summaries = session.in_transaction(read)
    empty = "No documents yet. Write one: jobmill document write MATCH"
    output.print_rows(summaries, as_json=as_json, empty=empty)


@app.command()
def export(
    id: Id,
    format: Format = "pdf",
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="Output file; - is stdout; default: the document's own file name."
        ),
    ] = "",
    version: Annotated[
        int | None, typer.Option(min=1, help="An older version; default: the newest.")
    ] = None,
) -> None:
    """Save a document as PDF, DOCX or plain text."""

    async def act(database: Database) -> tuple[str, bytes]:
        async with database.transaction() as tx:
            owner = await lookups.find_owner(tx)
            stored = await store.get(tx, id, version=version, owner=owner)
            match = await matches.get(tx, stored.match_id, owner=owner)
        document = stored.document()
        file = await document_files.render_file(document, format)
        return document_files.file_name(document, match.company, format), file.data

    name, data = session.with_database(act)
    _write_file(out or name, data)


def _write_file(out: str, data: bytes) -> None:
    if out == "-":
        sys.stdout.buffer.write(data)
        return
    try:
        Path(out).write_bytes(data)
    except OSError as error:
        raise Invalid(f"{out} cannot be written: {error.strerror}. Choose another file.") from error
    typer.echo(out)


@app.command()
def sent(id: Id, format: Format = "pdf", as_json: AsJson = False) -> None:
    """Freeze the newest version as the file that you sent, and print its SHA-256."""

    async def act(database: Database) -> dict[str, object]:
        async with database.transaction() as tx:
            owner = await lookups.find_owner(tx)
            stored = await store.get(tx, id, owner=owner)
        data = (await document_files.render_file(stored.document(), format)).data
        async with database.transaction() as tx:
            await store.mark_sent(
                tx, id, stored.version, format, data, owner=owner, actor=lookups.current_user()
            )
            frozen = await store.find_sent(tx, id)
        file = next(
            file for file in frozen if (file.version, file.format) == (stored.version, format)
        )
        file_record = output.pick(file, "version", "format")
        return {"id": id, **file_record, "sha256": file.sha256.hex(), "at": file.sent_at}

    record = session.with_database(act)
    output.print_record(record, as_json=as_json)
