"""jobmill profile …: whom listings are judged for."""

from __future__ import annotations

import difflib
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from jobmill.cli.profile import pausing
from jobmill.cli.support import output, session
from jobmill.cli.support.lookups import choose_profile, current_user
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import AppError, Invalid, NotFound, Unavailable
from jobmill.matching import judging_feed, profile_document, profiles, resume
from jobmill.matching.example_profile import TEXT
from jobmill.matching.profile import Profile
from jobmill.matching.profile_document import ProfileProblem
from jobmill.matching.profiles import ProfileSummary, ProfileVersion, SavedProfile
from jobmill.matching.resume import MAX_FILE_SIZE, ResumeDraft

app = typer.Typer(no_args_is_help=True)

File = Annotated[str, typer.Argument(metavar="FILE", help="The file; `-` is stdin.")]
Named = Annotated[
    str | None, typer.Argument(metavar="NAME", help="Which profile; else the default one.")
]
NewName = Annotated[str, typer.Option("--name", metavar="NAME", help="What to call it.")]
Note = Annotated[str | None, typer.Option(metavar="TEXT", help="Why, for the history.")]

REVIEW = """\
# Read from a resume ({format}). Nothing is saved yet: read it, set the rank of each skill, and remove
# the titles you no longer want. It says nothing of: {missing}.
# Then: jobmill profile import FILE
"""
EDIT = """\
# What is not written here has its default; `jobmill profile example` shows every field.
"""


@dataclass(frozen=True)
class Imported:
    """What an import came to."""

    name: str
    version: int | None
    changed: bool
    saved: bool
    waiting: int
    """Listings that are to be judged for it."""
    format: str
    missing: list[str]
    profile: dict[str, Any]


@app.command("import")
def import_profile(
    file: File,
    name: NewName = "main",
    note: Note = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, and save nothing.")
    ] = False,
    save: Annotated[
        bool, typer.Option("--save", help="Save what a resume says without looking it over.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Save a profile from YAML or JSON, or make the draft of one from a resume (PDF, DOCX, text, JSON Resume)."""
    data = _load(file)
    if _is_profile(data, file):
        profile = _read(data, file)
        _import(profile, name, note or f"imported from {file}", None, not dry_run, as_json)
    else:
        draft = resume.read_resume(data, file)
        keep = save and not dry_run
        _import(draft.profile, name, note or f"read from {file}", draft, keep, as_json)


def _import(
    profile: Profile, name: str, note: str, draft: ResumeDraft | None, keep: bool, as_json: bool
) -> None:
    saved, waits = _save(name, profile, note) if keep else (None, 0)
    if as_json:
        answer = Imported(
            name,
            saved.version if saved else None,
            saved.changed if saved else False,
            keep,
            waits,
            draft.format if draft else "profile",
            list(draft.missing) if draft else [],
            profile.model_dump(mode="json"),
        )
        output.print_record(answer, as_json=True)
    elif saved:
        _tell(saved, waits)
    elif draft:
        _print_draft(draft)
    else:
        _print_change(name, profile)


def _print_draft(draft: ResumeDraft) -> None:
    typer.echo(REVIEW.format(format=draft.format, missing=", ".join(draft.missing)), nl=False)
    typer.echo(profile_document.to_yaml(draft.profile), nl=False)


def _print_change(name: str, profile: Profile) -> None:
    async def newest(tx: Tx) -> str:
        try:
            return profile_document.to_yaml((await profiles.get(tx, name)).profile())
        except NotFound:
            return ""

    changes = _diff(session.in_transaction(newest), profile_document.to_yaml(profile), name, "new")
    typer.echo(changes or f"{name} would not change.\n", nl=False)


@app.command()
def check(file: File, as_json: AsJson = False) -> None:
    """Say all that is wrong with a profile, by line (exit code 1)."""
    problems: list[ProfileProblem] = []
    try:
        profile_document.read_profile(_decoded(_load(file), file), file)
    except profile_document.InvalidProfile as error:
        problems = error.problems
    if as_json:
        output.print_json_lines(problems)
    elif problems:
        for problem in problems:
            typer.echo(output.printable(profile_document.format_problem(file, problem)))
    else:
        typer.echo(f"ok: {file} is a profile")
    if problems:
        raise typer.Exit(1)


@dataclass(frozen=True)
class Shown:
    name: str
    version: int
    saved_at: Any
    saved_by: str | None
    note: str | None
    profile: dict[str, Any]


@app.command("show")
def show_profile(
    name: Named = None,
    version: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=2**31 - 1, help="Else the newest.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a profile as YAML, without what is at its default; JSON has all of it."""
    found = _get(name, version)
    profile = found.profile()
    if as_json:
        whole = profile.model_dump(mode="json")
        answer = Shown(found.name, found.version, found.saved_at, found.saved_by, found.note, whole)
        output.print_record(answer, as_json=True)
        return
    typer.echo(f"# {output.printable(_headline(found))}")
    typer.echo(profile_document.to_yaml(profile), nl=False)


def _headline(found: ProfileVersion) -> str:
    by = f" by {found.saved_by}" if found.saved_by else ""
    note = f": {found.note}" if found.note else ""
    at = found.saved_at.astimezone()
    return f"{found.name}, version {found.version}, saved {at:%Y-%m-%d %H:%M}{by}{note}"


@app.command("list")
def list_profiles(as_json: AsJson = False) -> None:
    """List the profiles, with the newest version of each."""

    async def find(tx: Tx) -> list[ProfileSummary]:
        return await profiles.find_all(tx)

    found = session.in_transaction(find)
    if not found and not as_json:
        typer.echo("No profiles. Begin with: jobmill profile example > me.yaml")
        return
    output.print_rows(found, as_json=as_json)


@dataclass(frozen=True)
class Step:
    version: int
    saved_at: Any
    saved_by: str | None
    note: str | None


@app.command()
def history(name: Named = None, as_json: AsJson = False) -> None:
    """List the versions of a profile, newest first: who saved each, when and why."""

    async def find(tx: Tx) -> list[ProfileVersion]:
        return await profiles.read_versions(tx, (await choose_profile(tx, name)).name)

    steps = [
        Step(one.version, one.saved_at, one.saved_by, one.note)
        for one in session.in_transaction(find)
    ]
    output.print_rows(steps, as_json=as_json)


@app.command()
def diff(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which profile.")],
    first: Annotated[int, typer.Argument(metavar="V1", min=1, max=2**31 - 1, help="A version.")],
    second: Annotated[int, typer.Argument(metavar="V2", min=1, max=2**31 - 1, help="Another.")],
    as_json: AsJson = False,
) -> None:
    """Show what changed between two versions."""
    texts = [profile_document.to_yaml(_get(name, version).profile()) for version in (first, second)]
    changes = _diff(texts[0], texts[1], f"{name} version {first}", f"{name} version {second}")
    if as_json:
        output.print_json({"name": name, "from": first, "to": second, "diff": changes.splitlines()})
    else:
        typer.echo(changes or "They say the same.\n", nl=False)


@app.command()
def use(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which profile.")],
    as_json: AsJson = False,
) -> None:
    """Make a profile the default: it counts where none is named."""

    async def act(tx: Tx) -> None:
        await profiles.set_default(tx, (await choose_profile(tx, name)).name, by=current_user())

    session.in_transaction(act)
    if as_json:
        output.print_json({"name": name, "is_default": True})
    else:
        typer.echo(f"{name} is the default now.")


@app.command()
def example(as_json: AsJson = False) -> None:
    """Print a profile with every field explained, to start from."""
    if as_json:
        output.print_json(profile_document.read_profile(TEXT, "example").model_dump(mode="json"))
    else:
        typer.echo(TEXT, nl=False)


@app.command()
def edit(name: Named = None, note: Note = None, as_json: AsJson = False) -> None:
    """Edit a profile in $VISUAL or $EDITOR; what is saved is checked first. The first one starts from the example."""
    try:
        newest = _get(name, None)
        name, after, text = newest.name, newest.version, profile_document.to_yaml(newest.profile())
        draft = EDIT + text
    except NotFound:
        name, after, text, draft = name or profiles.DEFAULT_NAME, 0, "", TEXT
        profiles.check_name(name)
    file = _draft_file(name, draft)
    profile = _edited(file)
    try:
        saved, waits = _save(name, profile, note, after=after)
    except AppError:
        _keep(file)
        raise
    file.unlink()
    if as_json:
        output.print_json(asdict(saved) | {"waiting": waits})
        return
    typer.echo(_diff(text, profile_document.to_yaml(profile), "before", "after"), nl=False)
    _tell(saved, waits)


def _draft_file(name: str, text: str) -> Path:
    handle, path = tempfile.mkstemp(prefix=f"jobmill-{name}-", suffix=".yaml")
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(text)
    return Path(path)


def _edited(file: Path) -> Profile:
    """What the editor left, once it is right; on a terminal one may try again, else the draft is kept."""
    while True:
        try:
            _open_editor(file)
            return profile_document.read_profile(_decoded(file.read_bytes(), str(file)), str(file))
        except profile_document.InvalidProfile as error:
            for problem in error.problems:
                typer.echo(
                    output.printable(profile_document.format_problem(str(file), problem)), err=True
                )
            if sys.stdin.isatty() and typer.confirm("Edit it again?", default=True):
                continue
            raise Invalid(f"nothing was saved; the draft is {file}") from error


def _open_editor(file: Path) -> None:
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        done = subprocess.run([*shlex.split(chosen), str(file)], check=False)
    except (OSError, ValueError) as error:
        file.unlink()
        raise Unavailable(f"the editor {chosen} does not start: set $EDITOR ({error})") from error
    if done.returncode:
        _keep(file)
        raise Unavailable(f"the editor {chosen} ended with {done.returncode}; nothing was saved")


def _keep(file: Path) -> None:
    typer.echo(f"The draft is kept: {file}", err=True)


def _tell(saved: SavedProfile, waits: int) -> None:
    if not saved.changed:
        typer.echo(f"Nothing changed: version {saved.version} of {saved.name} says the same.")
        return
    typer.echo(f"Saved as version {saved.version} of {saved.name}.")
    if waits:
        many = output.format_count(waits, "open listing")
        verb = "waits" if waits == 1 else "wait"
        hint = f"`jobmill match stats --profile {saved.name}` says how far it is"
        typer.echo(f"{many} {verb} to be judged; {hint}.", err=True)
    elif saved.version > 1:
        hint = f"jobmill match rescore --dry-run --profile {saved.name}"
        typer.echo(f"What it changes: {hint}", err=True)
    else:
        hint = "jobmill source add URL, or jobmill company add NAME --website URL"
        typer.echo(f"Next, where listings come from: {hint}", err=True)


def _save(
    name: str, profile: Profile, note: str | None, after: int | None = None
) -> tuple[SavedProfile, int]:
    """What was saved, and how many listings now wait to be judged for it."""

    async def act(tx: Tx) -> tuple[SavedProfile, int]:
        saved = await profiles.save(tx, name, profile, by=current_user(), note=note, based_on=after)
        return saved, await judging_feed.add_for_new_profile(tx, saved)

    return session.in_transaction(act)


def _get(name: str | None, version: int | None) -> ProfileVersion:
    async def find(tx: Tx) -> ProfileVersion:
        return await choose_profile(tx, name, version=version)

    return session.in_transaction(find)


def _diff(before: str, after: str, first: str, second: str) -> str:
    lines = [text.splitlines(keepends=True) for text in (before, after)]
    return "".join(difflib.unified_diff(*lines, fromfile=first, tofile=second))


def _load(file: str) -> bytes:
    try:
        if file == "-":
            return sys.stdin.buffer.read(MAX_FILE_SIZE + 1)
        with Path(file).open("rb") as given:
            return given.read(MAX_FILE_SIZE + 1)
    except OSError as error:
        raise Invalid(f"cannot read {file}: {error.strerror}") from error


def _is_profile(data: bytes, file: str) -> bool:
    """What is certainly a resume is one; of other texts the name decides."""
    if resume.detect_format(data):
        return False
    return file == "-" or Path(file).suffix.lower() in (".yaml", ".yml", ".json")


def _read(data: bytes, file: str) -> Profile:
    """The profile in a file; all that is wrong with it is said, a line each."""
    try:
        return profile_document.read_profile(_decoded(data, file), file)
    except profile_document.InvalidProfile as error:
        for problem in error.problems:
            typer.echo(output.printable(profile_document.format_problem(file, problem)), err=True)
        raise typer.Exit(2) from error


def _decoded(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"{file} is not UTF-8: no profile") from error


app.command()(pausing.pause)
app.command()(pausing.resume)
