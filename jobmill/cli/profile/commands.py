"""jobmill profile: skills and preferences that jobs are scored for."""

from __future__ import annotations

import difflib
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from jobmill.cli.support import files, output, session
from jobmill.cli.support.lookups import (
    HOW_TO_BEGIN,
    choose_person,
    choose_profile,
    current_user,
    find_owner,
)
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import AppError, Invalid, NotFound, Unavailable
from jobmill.matching import judging_feed, profile_document, profiles, resumes
from jobmill.matching.profile import Profile
from jobmill.matching.profile_document import ProfileProblem
from jobmill.matching.profiles import ProfileSummary, ProfileVersion, SavedProfile
from jobmill.matching.resumes import MAX_FILE_SIZE, ParsedResume, json_entries
from jobmill.people import persons
from jobmill.people.persons import LOCAL
from jobmill.queue.feed import notify_feeds

app = typer.Typer(no_args_is_help=True, callback=choose_person)

File = Annotated[str, typer.Argument(metavar="FILE", help="Profile or resume; - is stdin.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the profile.")]
OptionalName = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Name of the profile; default: the default profile."),
]
NewName = Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the profile.")]
Note = Annotated[str | None, typer.Option(metavar="TEXT", help="Note for the history.")]

REVIEW = """\
# Read from a resume ({format}). Nothing is saved yet. Check it, set the rank of each skill and remove
# titles that you no longer want. Not found in the resume: {missing}.
# Then: jobmill profile import FILE
"""
EDIT = """\
# Omitted fields have their default values; `jobmill profile example` shows every field.
"""


@app.command("import")
def import_profile(
    file: File,
    name: NewName = "main",
    note: Note = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change without saving it.")
    ] = False,
    save: Annotated[
        bool, typer.Option("--save", help="Save a profile from a resume without a review.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Save a profile from YAML or JSON, or draft one from a resume (PDF, DOCX, text, JSON Resume)."""
    data = _load(file)
    if _is_profile(data, file):
        profile = _read(data, file)
        _import(profile, name, note or f"imported from {file}", None, not dry_run, as_json)
    else:
        draft = resumes.read_resume(data, file)
        _import(
            draft.profile, name, note or f"read from {file}", draft, save and not dry_run, as_json
        )


def _import(
    profile: Profile, name: str, note: str, draft: ParsedResume | None, save: bool, as_json: bool
) -> None:
    saved, waiting = _save(name, profile, note) if save else (None, 0)
    if as_json:
        output.print_json(
            {
                "name": name,
                "version": saved.version if saved else None,
                "changed": saved.changed if saved else False,
                "saved": save,
                # Listings that wait to be scored for it.
                "waiting": waiting,
                "format": draft.format if draft else "profile",
                "missing": list(draft.missing) if draft else [],
                "profile": profile.model_dump(mode="json"),
            }
        )
    elif saved:
        _print_saved(saved, waiting)
    elif draft:
        _print_draft(draft)
    else:
        _print_change(name, profile)


def _print_draft(draft: ParsedResume) -> None:
    typer.echo(REVIEW.format(format=draft.format, missing=", ".join(draft.missing)), nl=False)
    typer.echo(profile_document.to_yaml(draft.profile), nl=False)


def _print_change(name: str, profile: Profile) -> None:
    async def newest(tx: Tx) -> str:
        try:
            return profile_document.to_yaml(
                (await profiles.get(tx, name, owner=await find_owner(tx))).profile()
            )
        except NotFound:
            return ""

    changes = _diff(session.in_transaction(newest), profile_document.to_yaml(profile), name, "new")
    typer.echo(changes or f"{name} would not change.\n", nl=False)


@app.command()
def check(file: File, as_json: AsJson = False) -> None:
    """Check a profile and list all problems by line; exit code 1 if there are any."""
    problems: list[ProfileProblem] = []
    try:
        profile_document.read_profile(files.decode_strictly(_load(file), file), file)
    except profile_document.InvalidProfile as error:
        problems = error.problems
    if as_json:
        output.print_json_lines(problems)
    elif problems:
        for problem in problems:
            typer.echo(output.printable(profile_document.format_problem(file, problem)))
    else:
        typer.echo(f"ok: {file} is a valid profile")
    if problems:
        raise typer.Exit(1)


@app.command("show")
def show_profile(
    name: OptionalName = None,
    version: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=2**31 - 1, help="Version; default: the newest."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a profile as YAML without default values; --json prints all values."""
    saved = _read_version(name, version)
    profile = saved.profile()
    if as_json:
        fields = output.pick(saved, "name", "version", "saved_at", "saved_by", "note")
        output.print_json({**fields, "profile": profile.model_dump(mode="json")})
        return
    typer.echo(f"# {output.printable(_format_headline(saved))}")
    typer.echo(profile_document.to_yaml(profile), nl=False)


@app.command()
def export(
    name: OptionalName = None,
    form: Annotated[
        Literal["json-resume", "yaml"],
        typer.Option(
            "--format", help="JSON Resume (jsonresume.org), or the whole profile as YAML."
        ),
    ] = "json-resume",
) -> None:
    """Print a profile for other programs; `profile import` reads both formats again."""
    profile = _read_version(name, None).profile()
    if form == "yaml":
        typer.echo(profile_document.to_yaml(profile), nl=False)
    else:
        output.print_json(json_entries.to_json_resume(profile))


def _format_headline(version: ProfileVersion) -> str:
    by = f" by {version.saved_by}" if version.saved_by else ""
    note = f": {version.note}" if version.note else ""
    at = version.saved_at.astimezone()
    return f"{version.name}, version {version.version}, saved {at:%Y-%m-%d %H:%M}{by}{note}"


@app.command("list")
def list_profiles(
    everyone: Annotated[
        bool, typer.Option("--all", help="The profiles of all people, with the id of the owner.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the profiles with their newest versions."""

    async def find(tx: Tx) -> list[ProfileSummary]:
        if everyone:
            return await profiles.find_of_everyone(tx)
        return await profiles.find_all(tx, owner=await find_owner(tx))

    summaries = session.in_transaction(find)
    empty = f"No profiles. Create one: {HOW_TO_BEGIN}"
    output.print_rows(summaries, as_json=as_json, empty=empty)


@app.command()
def history(name: OptionalName = None, as_json: AsJson = False) -> None:
    """List the versions of a profile, newest first."""

    async def find(tx: Tx) -> list[ProfileVersion]:
        version = await choose_profile(tx, name)
        return await profiles.read_versions(tx, version.name, owner=version.owner_id)

    rows = [
        output.pick(version, "version", "saved_at", "saved_by", "note")
        for version in session.in_transaction(find)
    ]
    output.print_rows(rows, as_json=as_json)


@app.command()
def diff(
    name: Name,
    first: Annotated[
        int, typer.Argument(metavar="V1", min=1, max=2**31 - 1, help="First version.")
    ],
    second: Annotated[
        int, typer.Argument(metavar="V2", min=1, max=2**31 - 1, help="Second version.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show the differences between two versions."""
    texts = [
        profile_document.to_yaml(_read_version(name, version).profile())
        for version in (first, second)
    ]
    changes = _diff(texts[0], texts[1], f"{name} version {first}", f"{name} version {second}")
    if as_json:
        output.print_json({"name": name, "from": first, "to": second, "diff": changes.splitlines()})
    else:
        typer.echo(changes or "No differences.\n", nl=False)


@app.command()
def use(name: Name, as_json: AsJson = False) -> None:
    """Make a profile the default, which is used when no profile is named."""

    async def act(tx: Tx) -> None:
        version = await choose_profile(tx, name)
        await profiles.set_default(tx, version.name, owner=version.owner_id, by=current_user())

    session.in_transaction(act)
    output.print_result(
        {"name": name, "is_default": True}, f"{name} is now the default profile.", as_json
    )


@app.command()
def give(
    name: Name,
    email: Annotated[
        str,
        typer.Argument(
            metavar="EMAIL", help="The new owner; - is the local user, without an account."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Hand a profile with its matches, notes and views to another person."""

    async def act(tx: Tx) -> int:
        owner = (await choose_profile(tx, name)).owner_id
        to = LOCAL if email == "-" else (await persons.get_active(tx, email)).id
        return await profiles.give(tx, name, owner=owner, to=to, by=current_user())

    id = session.in_transaction(act)
    text = f"{name} now belongs to {'the local user' if email == '-' else email}."
    output.print_result({"id": id, "name": name, "owner": email}, output.printable(text), as_json)


@app.command()
def example(as_json: AsJson = False) -> None:
    """Print an example profile that explains every field."""
    text = profile_document.read_example()
    if as_json:
        output.print_json(profile_document.read_profile(text, "example").model_dump(mode="json"))
    else:
        typer.echo(text, nl=False)


@app.command()
def edit(name: OptionalName = None, note: Note = None, as_json: AsJson = False) -> None:
    """Edit a profile in $VISUAL or $EDITOR, check it and save it. A new one starts from the example."""
    try:
        newest = _read_version(name, None)
        name, after, text = newest.name, newest.version, profile_document.to_yaml(newest.profile())
        draft = EDIT + text
    except NotFound:
        name, after, text = name or profiles.DEFAULT_NAME, 0, ""
        draft = profile_document.read_example()
        profiles.check_name(name)
    file = _write_draft(name, draft)
    profile = _edit_until_valid(file)
    try:
        saved, waiting = _save(name, profile, note, after=after)
    except AppError:
        _report_draft(file)
        raise
    file.unlink()
    if as_json:
        output.print_json(asdict(saved) | {"waiting": waiting})
        return
    typer.echo(_diff(text, profile_document.to_yaml(profile), "before", "after"), nl=False)
    _print_saved(saved, waiting)


def _write_draft(name: str, text: str) -> Path:
    handle, path = tempfile.mkstemp(prefix=f"jobmill-{name}-", suffix=".yaml")
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(text)
    return Path(path)


def _edit_until_valid(file: Path) -> Profile:
    """Open the editor, on a terminal until the profile is valid or the user gives up."""
    while True:
        try:
            _open_editor(file)
            return profile_document.read_profile(
                files.decode_strictly(file.read_bytes(), str(file)), str(file)
            )
        except profile_document.InvalidProfile as error:
            for problem in error.problems:
                typer.echo(
                    output.printable(profile_document.format_problem(str(file), problem)), err=True
                )
            if sys.stdin.isatty() and typer.confirm("Edit it again?", default=True):
                continue
            raise Invalid(f"nothing was saved; the draft is in {file}") from error


def _open_editor(file: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        done = subprocess.run([*shlex.split(editor), str(file)], check=False)
    except (OSError, ValueError) as error:
        file.unlink()
        raise Unavailable(f"cannot start the editor {editor}: set $EDITOR ({error})") from error
    if done.returncode:
        _report_draft(file)
        raise Unavailable(
            f"the editor {editor} exited with code {done.returncode}; nothing was saved"
        )


def _report_draft(file: Path) -> None:
    typer.echo(f"The draft is in {file}", err=True)


def _print_saved(saved: SavedProfile, waiting: int) -> None:
    if not saved.changed:
        typer.echo(f"No changes: version {saved.version} of {saved.name} is the same.")
        return
    typer.echo(f"Saved as version {saved.version} of {saved.name}.")
    if waiting:
        jobs = f"{output.format_count(waiting, 'open job')} {'is' if waiting == 1 else 'are'}"
        hint = f"`jobmill match stats --profile {saved.name}` shows the progress"
        typer.echo(f"{jobs} waiting to be scored; {hint}.", err=True)
    elif saved.version > 1:
        hint = f"jobmill match rescore --dry-run --profile {saved.name}"
        typer.echo(f"To see what it changes: {hint}", err=True)
    else:
        hint = "jobmill source add URL, or jobmill company add NAME --website URL"
        typer.echo(f"Next, add sources of jobs: {hint}", err=True)


def _save(
    name: str, profile: Profile, note: str | None, after: int | None = None
) -> tuple[SavedProfile, int]:
    """The saved version, and how many listings now wait to be scored for it."""

    async def act(tx: Tx) -> tuple[SavedProfile, int]:
        saved = await profiles.save(
            tx,
            name,
            profile,
            owner=await find_owner(tx),
            by=current_user(),
            note=note,
            based_on=after,
        )
        return saved, await judging_feed.add_for_new_profile(tx, saved)

    return session.in_transaction(act)


def _read_version(name: str | None, version: int | None) -> ProfileVersion:

    return session.in_transaction(lambda tx: choose_profile(tx, name, version=version))


def _diff(before: str, after: str, first: str, second: str) -> str:
    lines = [text.splitlines(keepends=True) for text in (before, after)]
    return "".join(difflib.unified_diff(*lines, fromfile=first, tofile=second))


def _load(file: str) -> bytes:
    try:
        if file == "-":
            return sys.stdin.buffer.read(MAX_FILE_SIZE + 1)
        with Path(file).open("rb") as stream:
            return stream.read(MAX_FILE_SIZE + 1)
    except OSError as error:
        raise Invalid(f"cannot read {file}: {error.strerror}") from error


def _is_profile(data: bytes, file: str) -> bool:
    """False for a recognized resume format; else the name of the file decides."""
    if resumes.detect_format(data):
        return False
    return file == "-" or Path(file).suffix.lower() in (".yaml", ".yml", ".json")


def _read(data: bytes, file: str) -> Profile:
    """The profile in a file; exits with code 2 and prints all problems if it is not valid."""
    try:
        return profile_document.read_profile(files.decode_strictly(data, file), file)
    except profile_document.InvalidProfile as error:
        for problem in error.problems:
            typer.echo(output.printable(profile_document.format_problem(file, problem)), err=True)
        raise typer.Exit(2) from error


@app.command()
def pause(name: Name, as_json: AsJson = False) -> None:
    """Score no jobs for a profile until you resume it."""

    async def act(tx: Tx) -> int:
        version = await choose_profile(tx, name)
        await profiles.pause(tx, name, owner=version.owner_id)
        return await judging_feed.count(tx, version.profile_id)

    _print_state(name, True, session.in_transaction(act), as_json)


@app.command("resume")
def resume_profile(name: Name, as_json: AsJson = False) -> None:
    """Score jobs for a profile again, beginning with those that it missed."""

    async def act(tx: Tx) -> int:
        version = await choose_profile(tx, name)
        if await profiles.resume(tx, name, owner=version.owner_id):
            await judging_feed.add_unjudged(tx, version.profile_id)
            await notify_feeds(tx)
        return await judging_feed.count(tx, version.profile_id)

    _print_state(name, False, session.in_transaction(act), as_json)


def _print_state(name: str, paused: bool, waiting: int, as_json: bool) -> None:
    status, jobs = "paused" if paused else "active", output.format_count(waiting, "job")
    state = {"name": name, "paused": paused, "waiting": waiting}
    output.print_result(state, f"{name} is {status}: {jobs} waiting to be scored.", as_json)
