"""Read the file of `jobmill queue import` and report the result."""

from __future__ import annotations

import contextlib
import sys
from codecs import BOM_UTF8
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from jobmill.cli.support.output import format_count, printable
from jobmill.db import Database
from jobmill.errors import Invalid, NotFound
from jobmill.pipelines import legacy_items
from jobmill.queue.legacy_import import ImportReport

MAX_SHOWN_ERRORS = 20
MAX_LINE_BYTES = 16 * 1024 * 1024
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class _RollBack(Exception):
    """Roll back the import, and hand over its report."""

    def __init__(self, report: ImportReport) -> None:
        super().__init__()
        self.report = report


async def import_items(
    database: Database,
    lines: InputLines,
    rename: Mapping[str, str],
    *,
    profile: str | None,
    skip_bad: bool,
    dry_run: bool,
) -> ImportReport:
    """Import all lines, or none if some are bad; print the bad ones."""
    try:
        async with database.transaction() as tx:
            imported = await legacy_items.import_lines(tx, lines, rename=rename, profile=profile)
            report = replace(imported, bad=sorted(imported.bad + lines.bad, key=_line_number))
            if dry_run or (report.bad and not skip_bad):
                raise _RollBack(report)
    except _RollBack as rollback:
        report = rollback.report
    _print_bad_lines(report)
    if report.bad and not skip_bad:
        raise Invalid(
            f"{format_count(len(report.bad), 'bad line')}, so nothing was imported: fix the file, "
            "or use --skip-bad to import the other lines"
        )
    return report


def describe(report: ImportReport, *, dry_run: bool) -> str:
    verb = "would be imported" if dry_run else "imported"
    duplicates = f", {report.known:,} already imported" if report.known else ""
    bad = f", {format_count(len(report.bad), 'bad line')} skipped" if report.bad else ""
    return f"{format_count(report.imported, 'item')} {verb}{duplicates}{bad}"


class InputLines:
    """The numbered lines of a file; lines that are too long are added to `bad` and left out."""

    def __init__(self, stream: BinaryIO, progress: Progress | None = None) -> None:
        self.bad: list[str] = []
        self._bytes = 0
        self._stream = stream
        self._progress = progress

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        number = 0
        while raw := self._read():
            number += 1
            if number == 1 and raw.startswith(UTF16_MARKS):
                raise Invalid("the file is UTF-16: convert it to UTF-8 first")
            if number % 500 == 0:
                self._show("reading")
            if len(raw) == MAX_LINE_BYTES and not raw.endswith(b"\n"):
                self._skip_rest()
                self.bad.append(f"line {number}: longer than {MAX_LINE_BYTES:,} bytes")
            else:
                yield number, raw.removeprefix(BOM_UTF8) if number == 1 else raw
        self._show("writing")

    def _read(self) -> bytes:
        try:
            raw = self._stream.readline(MAX_LINE_BYTES)
        except OSError as error:
            raise Invalid(f"cannot read the file: {error.strerror}") from error
        self._bytes += len(raw)
        return raw

    def _skip_rest(self) -> None:
        while (more := self._read()) and not more.endswith(b"\n"):
            pass

    def _show(self, step: str) -> None:
        if self._progress:
            task = self._progress.task_ids[0]
            self._progress.update(task, description=step, completed=self._bytes)


@contextlib.contextmanager
def open_lines(file: Path) -> Generator[InputLines]:
    """Open a file, or stdin for `-`; a bar on a terminal shows the progress."""
    with _stream(file) as stream, _progress(file) as progress:
        yield InputLines(stream, progress)


@contextlib.contextmanager
def _stream(file: Path) -> Generator[BinaryIO]:
    if str(file) == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = file.open("rb")
    except FileNotFoundError:
        raise NotFound("file", file) from None
    except IsADirectoryError:
        raise Invalid(f"{file} is a folder, not a file") from None
    except OSError as error:
        raise Invalid(f"cannot read {file}: {error.strerror}") from error
    with stream:
        yield stream


@contextlib.contextmanager
def _progress(file: Path) -> Generator[Progress | None]:
    """A progress bar on stderr if that is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task("reading", total=file.stat().st_size if file.is_file() else None)
        yield progress


def _print_bad_lines(report: ImportReport) -> None:
    for line in report.bad[:MAX_SHOWN_ERRORS]:
        typer.echo(printable(line), err=True)
    if len(report.bad) > MAX_SHOWN_ERRORS:
        typer.echo(f"… and {len(report.bad) - MAX_SHOWN_ERRORS:,} more", err=True)


def _line_number(bad: str) -> int:
    return int(bad.removeprefix("line ").partition(":")[0])
