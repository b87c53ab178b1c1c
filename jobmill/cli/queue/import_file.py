"""Reads a file of exported items, however odd it is, and says what became of it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from jobmill.cli.queue.tables import count
from jobmill.cli.support.output import plain
from jobmill.db import Database
from jobmill.errors import Invalid, NotFound
from jobmill.queue import legacy_import
from jobmill.queue.legacy_import import MAX_SHOWN_ERRORS, ImportReport

LONGEST_LINE = 16 * 1024 * 1024
OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff")


class _NothingKept(Exception):
    """Ends the transaction of an import that is to leave no trace."""

    def __init__(self, report: ImportReport) -> None:
        super().__init__()
        self.report = report


async def run(
    database: Database, lines: Lines, rename: Mapping[str, str], *, skip_bad: bool, dry_run: bool
) -> ImportReport:
    """Import all lines, or none; Invalid, after naming them, where some are bad."""
    try:
        async with database.transaction() as tx:
            found = await legacy_import.import_lines(tx, lines, rename=rename, skip_bad=True)
            report = replace(found, bad=sorted(found.bad + lines.bad, key=_number))
            if dry_run or (report.bad and not skip_bad):
                raise _NothingKept(report)
    except _NothingKept as end:
        report = end.report
    _name_bad_lines(report)
    if report.bad and not skip_bad:
        raise Invalid(
            f"{count(len(report.bad), 'bad line')}, so nothing was imported: mend the file, "
            "or leave them out with --skip-bad"
        )
    return report


def describe(report: ImportReport, *, dry_run: bool) -> str:
    """The report in one line."""
    verb = "would be imported" if dry_run else "imported"
    known = f", {report.known:,} known already" if report.known else ""
    bad = f", {count(len(report.bad), 'bad line')} left out" if report.bad else ""
    return f"{count(report.imported, 'item')} {verb}{known}{bad}"


class Lines:
    """The lines of a file as text; those that are none are noted in `bad` and read as empty."""

    def __init__(self, stream: BinaryIO, progress: Progress | None = None) -> None:
        self.bad: list[str] = []
        self._bytes = 0
        self._stream = stream
        self._progress = progress

    def __iter__(self) -> Iterator[str]:
        number = 0
        while raw := self._read():
            number += 1
            if number == 1 and raw.startswith(OTHER_ENCODINGS):
                raise Invalid("the file is UTF-16: convert it to UTF-8 first")
            if number % 500 == 0:
                self._tell("reading")
            yield self._text(number, raw)
        self._tell("writing")

    def _read(self) -> bytes:
        try:
            raw = self._stream.readline(LONGEST_LINE)
        except OSError as error:
            raise Invalid(f"the file cannot be read: {error.strerror}") from error
        self._bytes += len(raw)
        return raw

    def _text(self, number: int, raw: bytes) -> str:
        if len(raw) == LONGEST_LINE and not raw.endswith(b"\n"):
            self._skip_rest()
            self.bad.append(f"line {number}: longer than {LONGEST_LINE:,} bytes")
            return ""
        try:
            return raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            self.bad.append(f"line {number}: not UTF-8 at byte {error.start + 1}")
            return ""

    def _skip_rest(self) -> None:
        while (more := self._read()) and not more.endswith(b"\n"):
            pass

    def _tell(self, doing: str) -> None:
        if self._progress:
            task = self._progress.task_ids[0]
            self._progress.update(task, description=doing, completed=self._bytes)


@contextlib.contextmanager
def opened(file: Path) -> Generator[Lines]:
    """The lines of a file, or of the input; a bar shows how far they are read."""
    with _stream(file) as stream, _progress(file) as progress:
        yield Lines(stream, progress)


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
        raise Invalid(f"{file} cannot be read: {error.strerror}") from error
    with stream:
        yield stream


@contextlib.contextmanager
def _progress(file: Path) -> Generator[Progress | None]:
    """A bar on standard error, where somebody can see it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task("reading", total=file.stat().st_size if file.is_file() else None)
        yield progress


def _name_bad_lines(report: ImportReport) -> None:
    for line in report.bad[:MAX_SHOWN_ERRORS]:
        typer.echo(plain(line), err=True)
    if len(report.bad) > MAX_SHOWN_ERRORS:
        typer.echo(f"… and {len(report.bad) - MAX_SHOWN_ERRORS:,} more", err=True)


def _number(bad: str) -> int:
    return int(bad.removeprefix("line ").partition(":")[0])
