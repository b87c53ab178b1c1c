"""jobmill opening form: show and change the application form of an opening."""

from __future__ import annotations

from typing import Annotated

import typer

from jobmill.cli.support import files, output, session
from jobmill.cli.support.hiring_session import OpeningId
from jobmill.cli.support.output import AsJson
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.forms import form_fields, form_versions
from jobmill.hiring.forms.form_versions import FormVersion

app = typer.Typer(no_args_is_help=True)


@app.command("show")
def show_form(opening: OpeningId, as_json: AsJson = False) -> None:
    """Show what an opening asks; the output of --json can be edited and set again."""
    current = session.in_transaction(lambda tx: form_versions.find_current(tx, opening))
    if as_json:
        _print_json(current)
        return
    if not current.form.fields:
        typer.echo("The form asks for a name and an email address only.")
    for number, field in enumerate(current.form.fields, 1):
        notes = [field.type, "required" if field.required else "optional"]
        notes += ["knockout"] if field.knockout else []
        output.print_wrapped(f"{field.label} ({', '.join(notes)})", f"{number:>3}  ")


@app.command("set")
def set_form(
    opening: OpeningId,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="JSON with `fields`, as `show --json` prints; `-` is stdin."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Save a new version of the form. Earlier applications keep the questions they answered."""
    form, version = form_fields.parse_form_file(files.read_text(file))
    saved = session.in_transaction(
        lambda tx: form_versions.save_form(tx, opening, form, LOCAL, based_on=version)
    )
    if as_json:
        _print_json(saved)
    else:
        questions = output.format_count(len(saved.form.fields), "question")
        typer.echo(f"Version {saved.version} of the form: {questions}.")


def _print_json(version: FormVersion) -> None:
    output.print_json({"version": version.version, "fields": version.form.list_fields()})
