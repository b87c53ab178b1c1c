"""jobmill source detect|read|platforms: what a board is and says, without asking it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobmill.cli import lines, show
from jobmill.cli.show import AsJson
from jobmill.errors import AppError, Invalid

if TYPE_CHECKING:
    from jobmill.ingest.address import Found
    from jobmill.ingest.platform import Platform
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
    answers = _fetched(urls) if fetch else _detected(urls, html)
    if as_json:
        for url, found in answers:
            lines.put(_face(url, found))
    else:
        show.many([_Row.of(url, found) for url, found in answers], as_json=False)


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


def _detected(urls: Iterable[str], html: str | None) -> Iterator[tuple[str, Found | None]]:
    from jobmill.ingest import detect

    saved = lines.read_file(html).decode("utf-8", "replace") if html else None
    for one in lines.given(urls, "url"):
        page = one.get("html", saved)
        yield _url_of(one), detect.detect(_url_of(one), page, company=one.get("company"))


def _url_of(given: dict[str, Any]) -> str:
    url = given.get("url")
    if not isinstance(url, str):
        raise Invalid('each line is a URL, or an object with a "url"')
    return url


def _fetched(urls: Iterable[str]) -> list[tuple[str, Found | None]]:
    from jobmill.cli import session
    from jobmill.ingest import detect

    async def look(tools: Tools) -> list[tuple[str, Found | None]]:
        return [
            (_url_of(one), await detect.discover(tools.fetch, _url_of(one)))
            for one in lines.given(urls, "url")
        ]

    return session.reach(look)


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
    failed = False
    for one in lines.given(files, "file"):
        name = one.get("platform") or platform
        if not name:
            raise Invalid("say whose answer it is: --platform NAME")
        try:
            _print_postings(
                one, _readable(name), {"token": token, "config": config, "url": url}, as_json
            )
        except AppError as error:
            failed = True
            lines.complain(one.get("file"), error, as_json)
    if failed:
        raise typer.Exit(1)


def _print_postings(
    one: dict[str, Any], platform: Platform, options: dict[str, Any], as_json: bool
) -> None:
    from jobmill.catalog import record
    from jobmill.cli import postings
    from jobmill.ingest import saved

    body = one["body"].encode() if "body" in one else lines.read_file(one["file"])
    found = saved.read(
        platform,
        body,
        url=one.get("url") or options["url"],
        token=one.get("token") or options["token"],
        config=one.get("config") or read_config(options["config"]),
    )
    if as_json:
        for posting in found:
            extra = {"file": one["file"]} if "file" in one else {}
            lines.put(record.write(posting) | extra)
    else:
        postings.table(found)


def read_config(text: str | None) -> dict[str, Any] | None:
    return lines.parse(text, "--config") if text else None


def _readable(name: str) -> Platform:
    from jobmill.ingest import saved

    return saved.platform(name)


@dataclass(frozen=True)
class PlatformRow:
    name: str
    title: str
    use: str
    """`on`, `off` or `recognised only`."""
    why: str | None


def platforms(as_json: AsJson = False) -> None:
    """List the platforms: which are read, which only recognised, which are off, and why."""
    from jobmill.ingest import keys
    from jobmill.ingest.adapters import PLATFORMS

    rows: list[PlatformRow] = []
    for one in PLATFORMS:
        unset = keys.missing(one, None, os.environ)
        if one.off:
            rows.append(PlatformRow(one.name, one.title, "off", one.off))
        elif one.first is None:
            rows.append(PlatformRow(one.name, one.title, "recognised only", None))
        elif unset:
            rows.append(PlatformRow(one.name, one.title, "off", f"set {', '.join(unset)}"))
        else:
            rows.append(PlatformRow(one.name, one.title, "on", None))
    show.rows(rows, as_json=as_json)
