"""jobmill source add, discover: add a source now, or let a worker find it."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from jobmill import queue
from jobmill.boards import add_source
from jobmill.cli.sources.platforms import read_config
from jobmill.cli.support import output, session
from jobmill.cli.support.output import AsJson
from jobmill.pipelines import discovery

Employer = Annotated[str | None, typer.Option("--company", help="Employer of the jobs.")]


def add(
    url: Annotated[
        str | None, typer.Argument(metavar="URL", help="URL of a job board or a page.")
    ] = None,
    platform: Annotated[
        str | None, typer.Option(metavar="NAME", help="Platform, see `jobmill source platforms`.")
    ] = None,
    token: Annotated[str | None, typer.Option(help="Name of the board on the platform.")] = None,
    config: Annotated[
        str | None,
        typer.Option(metavar="JSON", help="Complete configuration, for html, rss and api."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the source.")] = None,
    company: Employer = None,
    website: Annotated[str | None, typer.Option(help="Website of the employer.")] = None,
    test: Annotated[
        bool, typer.Option(help="Read it once before it is saved; if not, it waits for a test.")
    ] = True,
    enable: Annotated[
        bool, typer.Option("--enable", help="Enable it even if the platform is uncertain.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a source: detect its platform, test it and save it. Uncertain ones need your approval."""
    request = add_source.SourceRequest(
        url=url,
        platform=platform,
        token=token,
        config=read_config(config),
        name=name,
        company=company,
        website=website,
        test=test,
        enable=enable,
    )
    added = session.with_tools(lambda tools: add_source.add_source(tools, request, os.environ))
    output.print_record(added, as_json=as_json)


def discover(
    url: Annotated[
        str, typer.Argument(metavar="URL", help="URL of a job board or of a company's page.")
    ],
    type_hint: Annotated[
        str, typer.Option("--type", metavar="NAME", help="auto, generic, or a platform's name.")
    ] = "auto",
    company: Employer = None,
    auto_enable: Annotated[bool, typer.Option(help="Enable it if the platform is certain.")] = True,
    validation: Annotated[
        bool, typer.Option("--ask-me", help="Always wait for your approval.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Let a worker find the job board at a URL and add it; `jobmill source add` does it now."""
    config: dict[str, Any] = {
        "url": url,
        "type_hint": type_hint,
        "company_name": company,
        "auto_enable": auto_enable,
        "validation_required": validation,
    }
    new_item = discovery.new_item(
        discovery.parse_config(config), via="user_submission", by="command line"
    )
    item = session.in_transaction(lambda tx: queue.submit(tx, new_item), declared=True)
    note = f"`jobmill queue show {item}` shows its progress"
    output.print_record({"url": url, "item": item, "note": note}, as_json=as_json)
