"""jobmill hiring fairness: the public log of an opening."""

from __future__ import annotations

from typing import Annotated

import typer

from jobmill.cli.support import files, hiring_session, output
from jobmill.cli.support.hiring_session import OpeningId
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.hiring.audit_log import fairness_proof
from jobmill.hiring.audit_log.fairness_proof import PublicHeads
from jobmill.hiring.audit_log.verification import ChainHead


def fairness(
    opening: OpeningId,
    save: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Save the public log as JSON lines; `-`: print it."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the end of an opening's public log, or save the log; people appear under random codes.

    Switch it on with `jobmill opening edit OPENING --fairness-proof`.
    """

    async def read_proof(tx: Tx) -> ChainHead:
        if save:
            with files.open_output(save) as out:
                async for line in fairness_proof.iter_lines(tx, opening):
                    out.write(line + "\n")
        return await PublicHeads().find(tx, opening)

    head = hiring_session.read_opening(opening, read_proof)
    if save == "-":
        return
    url = f"{hiring_session.base_url()}/openings/{opening}/fairness"
    if as_json:
        output.print_json({"jobId": opening, "seq": head.seq, "hash": head.hash, "url": url})
        return
    output.print_facts({"page": url, "events": f"{head.seq:,}", "head": f"{head.seq}:{head.hash}"})
    if save:
        typer.echo(f"Saved to {save}. Check it with verify_fairness.py from the page.", err=True)
