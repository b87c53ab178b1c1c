"""jobmill source discover: leaves it to a worker to make a source of a URL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from jobmill import queue
from jobmill.cli.support import output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.pipelines import discovery


@dataclass(frozen=True)
class Queued:
    url: str
    item: int
    note: str


def discover(
    url: Annotated[str, typer.Argument(metavar="URL", help="A board, or a company's page.")],
    type_hint: Annotated[
        str, typer.Option("--type", metavar="NAME", help="auto, generic, or a platform's name.")
    ] = "auto",
    company: Annotated[str | None, typer.Option(help="Whose postings they are.")] = None,
    auto_enable: Annotated[bool, typer.Option(help="Enable it when it is sure.")] = True,
    validation: Annotated[
        bool, typer.Option("--ask-me", help="Let it wait for you, however sure it is.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Have a worker find the board at a URL, try it and keep it; `source add` does so at once."""
    config: dict[str, Any] = {
        "url": url,
        "type_hint": type_hint,
        "company_name": company,
        "auto_enable": auto_enable,
        "validation_required": validation,
    }
    new = discovery.work(discovery.parse(config), via="user_submission", by="command line")

    async def submit(tx: Tx) -> int:
        return await queue.submit(tx, new)

    item = session.in_transaction(submit, declared=True)
    note = f"`jobmill queue show {item}` tells how far it is"
    output.print_record(Queued(url, item, note), as_json=as_json)
