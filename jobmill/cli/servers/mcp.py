"""jobmill mcp: let an assistant use Jobmill."""

from __future__ import annotations

import contextlib
import os
from typing import Annotated

import typer

from jobmill.cli.servers import local_server_files
from jobmill.cli.support import environment
from jobmill.client import Jobmill
from jobmill.errors import Invalid, Unavailable
from jobmill.web.local_access import create_link

KEY_VARIABLE = "JOBMILL_API_KEY"
ALL = "all"
PACKAGES = ("mcp", "mcp_types")
"""Of the extra `jobmill[mcp]`."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def mcp(
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            help="The address of Jobmill, such as https://jobs.example.org. Default: the one that "
            "runs on this machine.",
        ),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            metavar="TOOL",
            help="Offer a tool that changes something: triage_match, undo_triage, submit_job, "
            "add_application_note, move_application, set_next_step, or all. Can be repeated. "
            "Without it, the assistant can only read.",
        ),
    ] = None,
    http: Annotated[
        bool,
        typer.Option(
            "--http",
            help="Serve streamable HTTP at /mcp instead of stdio. Each request needs an API key as "
            "`Authorization: Bearer`.",
        ),
    ] = False,
    host: Annotated[
        str, typer.Option("--host", help="Where to listen, with --http.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Where to listen, with --http.")] = 8572,
) -> None:
    """Let an assistant search jobs, explain matches and track applications (Model Context Protocol).

    It does what the API key in JOBMILL_API_KEY may do. Without a key it uses the Jobmill that you run
    on this machine, like `jobmill open`.
    """
    try:
        from jobmill.mcp_server.caller_keys import KeyOfCaller, OwnConnection
        from jobmill.mcp_server.server import create_server
        from jobmill.mcp_server.tools import CHANGING
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in PACKAGES:
            raise
        raise Unavailable(
            "the MCP server needs a package that is not installed: run `pip install 'jobmill[mcp]'`"
        ) from error
    allowed = _read_allowed(allow or [], CHANGING)
    if http:
        if host not in LOOPBACK:
            raise Invalid("--host must be of this machine: put a proxy with TLS in front of it.")
        connections = KeyOfCaller(url or _find_local_url())
        with contextlib.closing(connections):
            create_server(connections, allowed).run("streamable-http", host=host, port=port)
        return
    with _connect(url) as client:
        create_server(OwnConnection(client), allowed).run("stdio")


def _read_allowed(names: list[str], changing: tuple[str, ...]) -> tuple[str, ...]:
    if ALL in names:
        return changing
    if unchanging := [name for name in names if name not in changing]:
        raise Invalid(
            f"--allow {unchanging[0]}: there is no such tool that changes something. Choose from "
            f"{', '.join(changing)}, or all."
        )
    return tuple(names)


def _connect(url: str | None) -> Jobmill:
    key = os.environ.get(KEY_VARIABLE)
    if url or key:
        if not key:
            raise Invalid(f"Set {KEY_VARIABLE} to an API key of {url}: `jobmill key add NAME`.")
        return Jobmill(url or _find_local_url(), key=key)
    server = local_server_files.find_server(environment.load_settings())
    client = Jobmill(server.url)
    client.open_link(create_link(server.url, bytes.fromhex(server.link_key)))
    return client


def _find_local_url() -> str:
    return local_server_files.find_server(environment.load_settings()).url
