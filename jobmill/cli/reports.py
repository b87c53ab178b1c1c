"""jobmill report: what a company's site tells candidates, and what AI assistants answer about it."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

import typer

from jobmill.cli.support import environment, files, lookups, output, session
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid
from jobmill.outside.pdf_printing import print_pdf
from jobmill.pipelines import report as report_pipeline
from jobmill.reports import comparison, contents, export, recurring, results, store
from jobmill.reports import competitors as rivals
from jobmill.reports.answers import Score
from jobmill.reports.document import format_score
from jobmill.reports.report import (
    Report,
    ReportContents,
    ReportOptions,
    ReportPhase,
    ReportStatus,
)
from jobmill.settings import split_list

app = typer.Typer(no_args_is_help=True)

ReportNumber = Annotated[int, typer.Argument(metavar="REPORT", min=1, help="Number of the report.")]
ExportFormat = Literal["md", "html", "json", "pdf"]


@app.command()
def create(
    url: Annotated[str, typer.Argument(metavar="URL", help="Website of the company.")],
    models: Annotated[
        str,
        typer.Option(
            metavar="MODEL,MODEL",
            help="Models to ask, such as anthropic:…,openai:…; default: those of the settings.",
        ),
    ] = "",
    runs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=50, help="How often to ask each question."),
    ] = None,
    prompts: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=50, help="How many questions to ask.")
    ] = None,
    review: Annotated[
        bool, typer.Option("--review", help="Let a person approve the questions before they run.")
    ] = False,
    site_only: Annotated[
        bool, typer.Option("--site-only", help="Analyze the website and ask no model.")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(metavar="DOLLARS", min=0, help="The most that its answers may cost."),
    ] = None,
    every: Annotated[
        float | None, typer.Option(metavar="DAYS", min=0.05, help="Repeat it at this interval.")
    ] = None,
    competitors: Annotated[
        str,
        typer.Option(
            metavar="URL,URL", help="Websites of competitors, to analyze them for comparison."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Create a report. A worker reads the site, forms questions and asks the models."""
    settings = environment.load_settings()
    options = ReportOptions(
        models=tuple(split_list(models)),
        runs=settings.report_runs if runs is None else runs,
        prompt_count=settings.report_prompts if prompts is None else prompts,
        review=review,
        site_only=site_only,
        budget=None if budget is None else Decimal(str(budget)),
        repeat_every=None if every is None else dt.timedelta(days=every),
    )

    async def create_report(tx: Tx) -> Report:
        id = await store.create(tx, url, options, by=lookups.current_user())
        if sites := split_list(competitors):
            await rivals.create_reports(tx, id, sites, by=lookups.current_user())
        return await store.get(tx, id)

    report = session.in_transaction(create_report, declared=True)
    if as_json:
        output.print_record(report, as_json=True)
        return
    typer.echo(output.printable(f"Created report {report.id} of {report.site}."))
    typer.echo(f"A worker will write it (`jobmill up` starts one); then see `jobmill report show {report.id}`.")  # fmt: skip


def _entry(report: Report) -> tuple[int, list[str | None], list[str | None]]:
    details = [
        report.site,
        "in progress" if report.in_progress else None,
        "waits for your approval" if report.awaits_approval else None,
        report.reason or report.note,
        f"every {report.repeat_every.total_seconds() / 86_400:g} days" if report.repeat_every else None,
    ]  # fmt: skip
    return report.id, [report.company, report.status], details


@app.command("list")
def list_reports(
    status: Annotated[
        ReportStatus | None, typer.Option(help="Only reports with this status.")
    ] = None,
    before: Annotated[
        int | None, typer.Option(metavar="ID", min=1, help="Only reports before this one.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List reports, newest first."""

    rows = session.in_transaction(
        lambda tx: store.find(tx, status=status, before=before, limit=limit + 1)
    )
    empty = "No reports. `jobmill report create URL` creates one."
    output.print_page(rows, _entry, limit=limit, option="--before", empty=empty, as_json=as_json)


@dataclass(frozen=True)
class _Recomputed:
    same: bool
    """Whether the stored answers lead to the stored results."""
    stored: tuple[Score, ...]
    recomputed: tuple[Score, ...]


@app.command("show")
def show_report(
    id: ReportNumber,
    recompute: Annotated[
        bool,
        typer.Option(
            "--recompute",
            help="Compute the scores from the stored answers again; exit code 1 if they differ.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a report with its evidence."""
    stored = _read(id)
    if recompute:
        _show_recomputed(stored, as_json)
    elif as_json:
        output.print_record(stored, as_json=True)
    else:
        report = stored.report
        for line in export.to_markdown(stored).splitlines():
            typer.echo(output.escape_controls(line))
        for problem in (report.reason, report.note):
            if problem:
                typer.echo(output.printable(problem))
        if report.awaits_approval:
            typer.echo(f"Its questions wait for your approval: `jobmill report approve {id}`.")


def _read(id: int) -> ReportContents:

    return session.in_transaction(lambda tx: contents.read_contents(tx, id))


def _show_recomputed(stored: ReportContents, as_json: bool) -> None:
    computed = asyncio.run(results.recompute(stored))
    if computed is None or stored.report.status != "completed":
        raise Conflict(f"report {stored.report.id} has no results yet")
    analyses = tuple(answer.analysis for answer in stored.answers if answer.failure is None)
    same = (computed.analyses, computed.scores, computed.recommendations) == (
        analyses, stored.scores, stored.recommendations,
    )  # fmt: skip
    if as_json:
        output.print_record(_Recomputed(same, stored.scores, computed.scores), as_json=True)
    else:
        for score in computed.scores:
            typer.echo(f"{score.name}: {format_score(score)} = {score.arithmetic}")
        typer.echo("The same as stored." if same else "Not the same as stored: the rules have changed since.")  # fmt: skip
    if not same:
        raise typer.Exit(1)


@app.command("compare")
def compare_reports(
    id: ReportNumber,
    other: Annotated[
        int | None,
        typer.Argument(
            metavar="OTHER", min=1, help="Report to compare it with; default: the previous one."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare a report with the previous one of its site, or with that of a competitor."""

    async def compare(tx: Tx) -> comparison.ReportComparison:
        newer = await contents.read_contents(tx, id)
        if other is not None:
            return comparison.compare(newer, await contents.read_contents(tx, other))
        previous = await store.find_previous(tx, newer.report)
        if previous is None:
            raise Conflict(
                f"report {id} has no earlier report of {newer.report.site} to compare it with"
            )
        return comparison.compare(await contents.read_contents(tx, previous.id), newer)

    compared = session.in_transaction(compare)
    if as_json:
        output.print_json(asdict(compared))
        return
    title = f"Report {compared.first_id} and report {compared.second_id}"
    text = export.sections_to_markdown(title, comparison.build_comparison(compared))
    for line in text.splitlines():
        typer.echo(output.escape_controls(line))


@app.command("competitors")
def add_competitors(
    id: ReportNumber,
    sites: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="Websites of competitors.")
    ] = None,
    named: Annotated[
        bool,
        typer.Option(
            "--found",
            help="Analyze the companies that the answers name, if their website is known.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Analyze the websites of competitors, or list the companies that the answers name.

    Then compare them: `jobmill report compare REPORT OTHER`.
    """

    async def read(tx: Tx) -> tuple[Sequence[rivals.FoundCompetitor], list[Report]]:
        located = await rivals.locate_competitors(tx, await contents.read_contents(tx, id))
        chosen = list(sites or ())
        chosen += [rival.domain for rival in located if named and rival.domain]
        if chosen:
            by = lookups.current_user()
            await rivals.create_reports(tx, id, chosen[: rivals.MAX_AT_ONCE], by=by)
        return located, await rivals.find_reports(tx, id)

    located, reports = session.in_transaction(read, declared=True)
    if as_json:
        output.print_json(
            {
                "found": [asdict(rival) for rival in located],
                "reports": [asdict(report) for report in reports],
            }
        )
        return
    for rival in located:
        site = f", {rival.domain}" if rival.domain else ""
        typer.echo(output.printable(f"{rival.name}: in {rival.answers} answers{site}"))
    output.print_entries(map(_entry, reports))
    if not located and not reports:
        typer.echo("No competitors. Name their websites: `jobmill report competitors REPORT URL`.")


@app.command()
def delete(
    id: ReportNumber,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a report with its questions and answers. Its events are kept."""
    stored = _read(id)
    if not yes:
        typer.confirm(
            f"Delete report {id} on {output.printable(stored.report.company)}?", abort=True
        )

    session.in_transaction(
        lambda tx: report_pipeline.delete_report(tx, id, by=lookups.current_user())
    )


@app.command()
def rerun(
    id: ReportNumber,
    phase: Annotated[ReportPhase, typer.Argument(metavar="PHASE", help="Phase to run again.")],
    as_json: AsJson = False,
) -> None:
    """Run one phase again and keep what the others stored.

    The phases are website-analysis, prompt-forming and model-analysis. A completed report asks the models
    again; a failed one keeps the answers it has paid for.
    """
    by = lookups.current_user()
    report = session.in_transaction(lambda tx: store.rerun(tx, id, phase, by=by), declared=True)
    output.print_record(report, as_json=as_json)


@app.command()
def edit(
    id: ReportNumber,
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="Key of the question.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Its new text.")],
) -> None:
    """Change a question that has not run yet; `report show --json` lists their keys."""

    session.in_transaction(
        lambda tx: contents.edit_prompt(tx, id, prompt, text, by=lookups.current_user())
    )


@app.command()
def approve(id: ReportNumber) -> None:
    """Approve the questions of a report that was created with --review, and run them."""

    session.in_transaction(lambda tx: store.approve(tx, id, by=lookups.current_user()))


@app.command()
def schedule(
    id: ReportNumber,
    every: Annotated[
        float | None, typer.Option(metavar="DAYS", min=0.05, help="Repeat it at this interval.")
    ] = None,
    stop: Annotated[bool, typer.Option("--stop", help="Stop repeating it.")] = False,
) -> None:
    """Repeat a report at an interval with the same options and budget."""
    if (every is None) == (not stop):
        raise Invalid("use either --every DAYS or --stop")
    interval = None if every is None else dt.timedelta(days=every)

    session.in_transaction(
        lambda tx: recurring.set_schedule(tx, id, interval, by=lookups.current_user())
    )


@app.command("export")
def export_report(
    id: ReportNumber,
    file_format: Annotated[
        ExportFormat, typer.Option("--format", help="Format of the file.")
    ] = "md",
    out: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="File to write; - is stdout.")
    ] = "-",
) -> None:
    """Export a report as Markdown, HTML, JSON or PDF."""
    stored = _read(id)
    if file_format == "pdf":
        _export_pdf(stored, out)
        return
    writers = {"md": export.to_markdown, "html": export.to_html, "json": export.to_json}
    text = writers[file_format](stored)
    with files.open_output(out) as file:
        file.write(text if text.endswith("\n") else f"{text}\n")


def _export_pdf(stored: ReportContents, out: str) -> None:
    if out == "-":
        raise Invalid("a PDF needs a file: use --output FILE")
    settings = environment.load_settings()
    printed = asyncio.run(print_pdf(export.to_html(stored), settings.chromium))
    try:
        Path(out).write_bytes(printed)
    except OSError as error:
        raise Invalid(f"cannot write {out}: {error.strerror}") from error
