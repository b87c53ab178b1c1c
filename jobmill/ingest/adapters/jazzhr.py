"""JazzHR."""

from __future__ import annotations

import re
from urllib.parse import quote

from jobmill.catalog.posting import Posting
from jobmill.ingest import foreign
from jobmill.ingest.fields import dates, employment, places, seniority, text
from jobmill.ingest.platform import Board, Page, Platform, at, board_of
from jobmill.outside.request import Request

HOST = re.compile(r"^https?://([\w-]+)\.applytojob\.com/", re.IGNORECASE)
MADE = re.compile(r"job_(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)")


def first(config: Board) -> Request:
    return Request(f"https://app.jazz.co/feeds/export/jobs/{quote(config.board_token, safe='')}")


def read(body: bytes, request: Request, config: Board) -> Page:
    """The feed: all syndicated postings, whole. Drafts and closed ones in it are left out."""
    feed = foreign.xml(body)
    if feed.tag != "jobs":
        raise foreign.unknown(PLATFORM.title)
    entries = [
        {part.tag: (part.text or "").strip() for part in entry} for entry in feed.iter("job")
    ]
    titled = [entry for entry in entries if entry.get("title")]
    if entries and not titled:
        raise foreign.unknown(PLATFORM.title)
    postings = tuple(
        _posting(entry, config)
        for entry in titled
        if entry.get("status", "").casefold() in ("open", "")
    )
    return Page(postings, stubs=len(entries) - len(titled))


def _posting(entry: dict[str, str], config: Board) -> Posting:
    where = places.address(entry.get("city"), entry.get("state"), entry.get("country"))
    made = MADE.match(entry.get("id", ""))
    url = foreign.link(entry.get("url")) or ""
    return Posting(
        title=text.line(entry["title"]) or "",
        url=url,
        location=where,
        locations=places.unique(where),
        department=text.line(entry.get("department")),
        employment_type=employment.read(entry.get("type")),
        seniority=seniority.word(entry.get("experience")),
        posted_at=dates.read("{}-{}-{}T{}:{}:{}".format(*made.groups())) if made else None,
        description=text.from_html(entry.get("description")),
        board=board_of(config, HOST, url),
        vendor_id=entry.get("id") or None,
    )


PLATFORM = Platform(
    name="jazzhr",
    title="JazzHR",
    urls=(
        at("applytojob.com", r"(?P<token>[a-z0-9-]+)"),
        at("jazz.co", "app", r"/(?:feeds/export/jobs|widgets/basic/create)/(?P<token>[^/]+)"),
        at("theresumator.com", r"(?P<token>[a-z0-9-]+)"),
    ),
    first=first,
    read=read,
)
