"""jobmill hiring review, note, edit-note, delete-note, rate, tag: what reviewers write about an application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from jobmill.cli.support import output, session, times
from jobmill.cli.support.hiring_session import ApplicationId
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.import_export import exports
from jobmill.hiring.records import applications
from jobmill.hiring.reviews import application_reviews, notes, ratings, tags
from jobmill.hiring.reviews.application_reviews import ApplicationReview
from jobmill.hiring.reviews.notes import ReviewNote

NoteId = Annotated[int, typer.Argument(metavar="NOTE", min=1, help="Number of the note.")]
NoteText = Annotated[
    str, typer.Argument(metavar="TEXT", help="The note; @NAME asks a member to read it.")
]


def review(application: ApplicationId, as_json: AsJson = False) -> None:
    """Show the ratings, tags and notes of an application."""
    _print_review(_change(application, None), as_json)


def note(application: ApplicationId, text: NoteText, as_json: AsJson = False) -> None:
    """Add a note to an application."""
    added = session.in_transaction(lambda tx: notes.add_note(tx, application, text, LOCAL))
    _print_note(added, as_json)


def edit_note(note: NoteId, text: NoteText, as_json: AsJson = False) -> None:
    """Change a note that was written on this machine."""
    edited = session.in_transaction(lambda tx: notes.edit_note(tx, note, text, LOCAL))
    _print_note(edited, as_json)


def delete_note(note: NoteId) -> None:
    """Delete a note that was written on this machine."""
    session.in_transaction(lambda tx: notes.delete_note(tx, note, LOCAL))
    typer.echo(f"Deleted note {note}.")


def rate(
    application: ApplicationId,
    score: Annotated[
        int, typer.Argument(metavar="SCORE", min=0, max=5, help="1 to 5; 0 removes your rating.")
    ],
    criterion: Annotated[
        str, typer.Option(metavar="TEXT", help="What the rating is about; by default overall.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Rate an application, or change your rating."""

    async def change(tx: Tx) -> None:
        await ratings.rate(tx, application, score or None, LOCAL, criterion=criterion)

    _print_review(_change(application, change), as_json)


def tag(
    application: ApplicationId,
    name: Annotated[str, typer.Argument(metavar="TAG", help="The tag.")],
    remove: Annotated[bool, typer.Option("--remove", help="Remove the tag instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add a tag to an application, or remove it."""

    async def change(tx: Tx) -> None:
        if remove:
            await tags.remove_tag(tx, application, name)
        else:
            await tags.add_tag(tx, application, name, LOCAL)

    _print_review(_change(application, change), as_json)


def _change(
    application_id: int, change: Callable[[Tx], Awaitable[None]] | None
) -> ApplicationReview:
    async def work(tx: Tx) -> ApplicationReview:
        await applications.get(tx, application_id)
        if change:
            await change(tx)
        return await application_reviews.read_review(tx, application_id)

    return session.in_transaction(work)


def _print_note(note: ReviewNote, as_json: bool) -> None:
    output.print_result(
        _note_json(note), f"Saved note {note.id} of application {note.application_id}.", as_json
    )


def _print_review(review: ApplicationReview, as_json: bool) -> None:
    if as_json:
        output.print_json(_review_json(review))
        return
    average = "not rated" if review.average is None else f"rated {review.average:.1f} of 5"
    tags_text = f"tags: {', '.join(review.tags)}" if review.tags else None
    output.print_wrapped(output.join([average, tags_text]), f"{review.application_id:>5}  ")
    for rating in review.ratings:
        name = rating.reviewer_name or rating.reviewer
        typer.echo(f"       {rating.score} of 5 · {rating.criterion or 'overall'} · {name}")
    for note in review.notes:
        lead = f"       note {note.id}, {note.author_name or note.author}, "
        output.print_wrapped(note.body, f"{lead}{times.format_second(note.created_at)}: ")


def _note_json(note: ReviewNote) -> dict[str, Any]:
    fields = exports.to_json_fields(note)
    fields["text"] = fields.pop("body")
    fields.pop("unreadBy")
    return fields


def _review_json(review: ApplicationReview) -> dict[str, Any]:
    """The review under the names of the HTTP API."""
    return {
        "applicationId": review.application_id,
        "average": review.average,
        "ratings": [exports.to_json_fields(rating) for rating in review.ratings],
        "tags": list(review.tags),
        "notes": [_note_json(note) for note in review.notes],
    }
