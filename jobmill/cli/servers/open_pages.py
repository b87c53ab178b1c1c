"""jobmill open: open the pages of a running local server, signed in."""

from __future__ import annotations

import html
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from jobmill.cli.servers import local_server_files
from jobmill.cli.support import environment, output
from jobmill.cli.support.files import open_private
from jobmill.cli.support.output import AsJson
from jobmill.errors import Unavailable
from jobmill.web.local_access import create_link


def open_pages(
    print_only: Annotated[
        bool,
        typer.Option("--print", help="Print the link instead of opening it. It works once."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Open the pages of your running Jobmill in the browser, signed in."""
    settings = environment.load_settings()
    server = local_server_files.find_server(settings)
    link = create_link(server.url, bytes.fromhex(server.link_key))
    if as_json:
        output.print_json({"url": link})
    elif print_only:
        typer.echo(link)
    else:
        page = settings.data_dir / local_server_files.FOLDER / "open.html"
        open_in_browser(page, link)
        typer.echo(f"Opened {server.url}/ in your browser.")


def open_in_browser(page: Path, link: str) -> None:
    """Through a private page that leads to the link: all users can read the arguments of a program."""
    with open_private(page) as out:
        out.write(
            '<!doctype html><meta charset="utf-8"><title>Jobmill</title>'
            f'<meta http-equiv="refresh" content="0; url={html.escape(link)}">'
        )
    if not webbrowser.open(page.as_uri()):
        raise Unavailable(
            "no browser could be started: use `jobmill open --print` and open the link yourself"
        )
