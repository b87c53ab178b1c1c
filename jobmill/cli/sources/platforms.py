"""jobmill source detect, read, platforms: detect job boards and read saved responses offline."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeAlias, cast

import typer

from jobmill.boards import api_keys, detection, readable_board
from jobmill.boards.adapters import PLATFORMS, find_platform
from jobmill.boards.url_detection import DetectedBoard
from jobmill.catalog import posting_json
from jobmill.cli.support import files, inputs, output, posting_output, session
from jobmill.cli.support.output import AsJson
from jobmill.errors import Invalid
from jobmill.tools import Tools


def detect(
    urls: Annotated[
        list[str],
        typer.Argument(metavar="URL", help="URLs; - reads them from stdin, one per line."),
    ],
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Saved page of the URL.")] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Fetch the page and the pages it links to.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Detect the job board of a URL or a saved page, without the network unless you use --fetch."""
    rows: list[dict[str, object]] = []

    def report(url: str, board: DetectedBoard | None) -> None:
        if as_json:
            output.print_json(_to_json(url, board))
        else:
            rows.append(_make_row(url, board))

    try:
        if fetch:
            _detect_online(urls, report)
        else:
            _detect_offline(urls, html, report, as_json)
    finally:
        if rows:
            output.print_table(rows, as_json=False)


DETECTION_FIELDS = ("platform", "token", "confidence", "evidence")


def _make_row(url: str, board: DetectedBoard | None) -> dict[str, object]:
    return {"url": url, **{name: getattr(board, name, None) for name in DETECTION_FIELDS}}


def _to_json(url: str, board: DetectedBoard | None) -> dict[str, object]:
    return _make_row(url, board) | {
        "relation": board and board.relation,
        "config": board and board.config,
        "board_url": (board and board.url) or None,
    }


Report: TypeAlias = "Callable[[str, DetectedBoard | None], None]"


def _detect_offline(urls: Iterable[str], html: str | None, report: Report, as_json: bool) -> None:
    saved = files.read_bytes(html).decode("utf-8", "replace") if html else None

    def detect_input(fields: dict[str, Any]) -> None:
        page = inputs.get_text(fields, "html")
        company = inputs.get_text(fields, "company")
        url = _get_url(fields)
        report(
            url,
            detection.detect_likeliest_board(url, saved if page is None else page, company=company),
        )

    inputs.for_each(urls, "url", detect_input, as_json=as_json)


def _get_url(fields: dict[str, Any]) -> str:
    url = inputs.get_text(fields, "url")
    if url is None:
        raise Invalid('each line must be a URL, or an object with a "url"')
    return url


def _detect_online(urls: Iterable[str], report: Report) -> None:
    input_urls = [_get_url(fields) for fields in inputs.read_inputs(urls, "url")]

    async def detect_all(tools: Tools) -> None:
        for url in input_urls:
            report(url, await detection.discover_board(tools.fetch, url))

    session.with_tools(detect_all)


def read(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help='Saved responses; - reads {"file": …} or {"body": …} objects from stdin.',
        ),
    ],
    platform: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Platform of the response, see `jobmill source platforms`."
        ),
    ] = None,
    token: Annotated[str, typer.Option(help="Name of the board, if known.")] = "",
    config: Annotated[
        str | None, typer.Option(metavar="JSON", help="Complete configuration of the source.")
    ] = None,
    url: Annotated[str, typer.Option(help="Requested URL.")] = "",
    as_json: AsJson = False,
) -> None:
    """Read jobs from saved responses of a job board; nothing is fetched or saved."""
    options = {"platform": platform, "token": token, "url": url}

    def print_input(fields: dict[str, Any]) -> None:
        _print_postings(options | fields, fields.get("config") or read_config(config), as_json)

    inputs.for_each(files, "file", print_input, as_json=as_json)


def _print_postings(fields: dict[str, Any], config: object, as_json: bool) -> None:
    name = inputs.get_text(fields, "platform")
    if not name:
        raise Invalid("name the platform of the response: --platform NAME")
    if config is not None and not isinstance(config, dict):
        raise Invalid('"config" must be an object: {…}')
    platform = find_platform(name)
    text = inputs.get_text(fields, "body")
    postings = readable_board.read_saved_response(
        platform,
        inputs.read_named_file(fields, "body") if text is None else text.encode("utf-8", "replace"),
        url=inputs.get_text(fields, "url") or "",
        token=inputs.get_text(fields, "token") or "",
        config=cast("dict[str, Any] | None", config),
    )
    if as_json:
        for posting in postings:
            extra = {"file": fields["file"]} if "file" in fields else {}
            output.print_json(posting_json.to_record(posting) | extra)
    else:
        posting_output.print_postings(postings)


def read_config(text: str | None) -> dict[str, Any] | None:
    return inputs.parse_object(text, "--config") if text else None


def list_platforms(as_json: AsJson = False) -> None:
    """List the platforms and whether each is supported."""
    rows: list[dict[str, object]] = []
    for platform in PLATFORMS:
        missing_keys = api_keys.missing_keys(platform, None, os.environ)
        use, why = "on", None
        if platform.disabled:
            use, why = "off", platform.disabled
        elif platform.first_request is None:
            use = "recognised only"
        elif missing_keys:
            use, why = "off", f"set {', '.join(missing_keys)}"
        rows.append({"name": platform.name, "title": platform.title, "use": use, "why": why})
    output.print_rows(rows, as_json=as_json)
