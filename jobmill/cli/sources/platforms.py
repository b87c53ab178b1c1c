"""jobmill source detect|read|platforms: what a board is and says, without asking it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, cast

import typer

from jobmill.boards import api_keys, detection, saved_responses
from jobmill.boards.adapters import PLATFORMS
from jobmill.boards.url_detection import Found
from jobmill.catalog import posting_json
from jobmill.cli.support import files, inputs, output, posting_output, session
from jobmill.cli.support.output import AsJson
from jobmill.errors import Invalid
from jobmill.tools import Tools


def detect(
    urls: Annotated[
        list[str], typer.Argument(metavar="URL", help="URLs; - reads them from stdin, one a line.")
    ],
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="The saved page behind the URL.")
    ] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Look at the page, and one link further.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say which job board a URL or a page belongs to; nothing is fetched unless you ask."""
    rows: list[_Row] = []

    def tell(url: str, found: Found | None) -> None:
        if as_json:
            output.print_json(_face(url, found))
        else:
            rows.append(_Row.of(url, found))

    try:
        if fetch:
            _fetch(urls, tell)
        else:
            _detect(urls, html, tell, as_json)
    finally:
        if rows:
            output.print_table(rows, as_json=False)


@dataclass(frozen=True)
class _Row:
    url: str
    platform: str | None
    token: str | None
    confidence: str | None
    evidence: str | None

    @staticmethod
    def of(url: str, found: Found | None) -> _Row:
        if found is None:
            return _Row(url, None, None, None, None)
        return _Row(url, found.platform, found.token, found.confidence, found.evidence)


def _face(url: str, found: Found | None) -> dict[str, Any]:
    row = _Row.of(url, found)
    return {
        "url": row.url,
        "platform": row.platform,
        "token": row.token,
        "confidence": row.confidence,
        "evidence": row.evidence,
        "relation": found and found.relation,
        "config": found and found.config,
        "board_url": (found and found.url) or None,
    }


Told: TypeAlias = "Callable[[str, Found | None], None]"


def _detect(urls: Iterable[str], html: str | None, tell: Told, as_json: bool) -> None:
    saved = files.read_bytes(html).decode("utf-8", "replace") if html else None

    def look(one: dict[str, Any]) -> None:
        page = inputs.get_text(one, "html")
        company = inputs.get_text(one, "company")
        url = _url_of(one)
        tell(url, detection.detect(url, saved if page is None else page, company=company))

    inputs.for_each(urls, "url", look, as_json=as_json)


def _url_of(given: dict[str, Any]) -> str:
    url = inputs.get_text(given, "url")
    if url is None:
        raise Invalid('each line is a URL, or an object with a "url"')
    return url


def _fetch(urls: Iterable[str], tell: Told) -> None:
    wanted = [_url_of(one) for one in inputs.read_inputs(urls, "url")]

    async def look(tools: Tools) -> None:
        for url in wanted:
            tell(url, await detection.discover(tools.fetch, url))

    session.with_tools(look)


def read(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help='Saved answers; - reads {"file": …} or {"body": …} objects from stdin.',
        ),
    ],
    platform: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose answer it is: `source platforms`.")
    ] = None,
    token: Annotated[str, typer.Option(help="The board that was asked, if you know.")] = "",
    config: Annotated[
        str | None, typer.Option(metavar="JSON", help="The whole config of the source.")
    ] = None,
    url: Annotated[str, typer.Option(help="What was asked for.")] = "",
    as_json: AsJson = False,
) -> None:
    """Read postings from saved answers of a board; nothing is fetched or saved."""
    options = {"platform": platform, "token": token, "url": url}

    def show_postings(one: dict[str, Any]) -> None:
        _print_postings(options | one, one.get("config") or read_config(config), as_json)

    inputs.for_each(files, "file", show_postings, as_json=as_json)


def _print_postings(one: dict[str, Any], config: object, as_json: bool) -> None:
    name = inputs.get_text(one, "platform")
    if not name:
        raise Invalid("say whose answer it is: --platform NAME")
    if config is not None and not isinstance(config, dict):
        raise Invalid('"config" is not an object: {…}')
    platform = saved_responses.platform(name)
    text = inputs.get_text(one, "body")
    found = saved_responses.read(
        platform,
        inputs.read_named_file(one, "body") if text is None else text.encode("utf-8", "replace"),
        url=inputs.get_text(one, "url") or "",
        token=inputs.get_text(one, "token") or "",
        config=cast("dict[str, Any] | None", config),
    )
    if as_json:
        for posting in found:
            extra = {"file": one["file"]} if "file" in one else {}
            output.print_json(posting_json.to_record(posting) | extra)
    else:
        posting_output.print_postings(found)


def read_config(text: str | None) -> dict[str, Any] | None:
    return inputs.parse_object(text, "--config") if text else None


@dataclass(frozen=True)
class PlatformRow:
    name: str
    title: str
    use: str
    """`on`, `off` or `recognised only`."""
    why: str | None


def platforms(as_json: AsJson = False) -> None:
    """List the platforms: which are read, which only recognised, which are off, and why."""
    rows: list[PlatformRow] = []
    for one in PLATFORMS:
        unset = api_keys.missing(one, None, os.environ)
        if one.off:
            rows.append(PlatformRow(one.name, one.title, "off", one.off))
        elif one.first is None:
            rows.append(PlatformRow(one.name, one.title, "recognised only", None))
        elif unset:
            rows.append(PlatformRow(one.name, one.title, "off", f"set {', '.join(unset)}"))
        else:
            rows.append(PlatformRow(one.name, one.title, "on", None))
    output.print_rows(rows, as_json=as_json)
