"""Measure how well postings are read from pages of sites without an adapter."""

from __future__ import annotations

import datetime as dt
import hashlib
import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from evaluation.goal import Goal, Report
from evaluation.score import share
from jobmill.catalog.posting import Posting
from jobmill.extract.page import page_reader
from jobmill.extract.page.page_reader import PageReading

TARGETS = {"title": 0.95, "company": 0.90, "location": 0.90, "date": 0.90}
CAPTURED_AT = dt.datetime(2010, 12, 15, tzinfo=dt.UTC)
"""When the pages were saved: deadlines after that are not over."""
STATED_CLOSED = b"Job posting is closed"
"""What the closed pages of the sample say."""
NOTICE = b"<div>This job is no longer available.</div>"
CHOICES = (
    b"<form>Report this job <input type=radio name=why> Position no longer available"
    b" <input type=radio name=why> Broken link</form>"
)
NOTES = [
    "unseen: half of the sites, by a hash of their names; rules are changed for errors on dev only.",
    "The five sites were at hand when the first rules were written. A site that is added to the",
    "folder falls into its part by itself.",
    "status: open or closed is right. notice: pages that are closed by a notice added to them.",
    "choice: pages that stay open with a form to report a job added to them.",
    "without JSON-LD: F1 against what the page's JSON-LD said before it was taken out",
]
_BASE = re.compile(rb"""<base href=["']([^"'>]+)""")
_BODY = re.compile(rb"<body[^>]*>", re.IGNORECASE)
_COLUMNS = (*TARGETS, "baseline", "no date", "status", "notice", "choice")
Hits = dict[str, list[bool]]


def report(data: Path) -> Report:
    """Pages without structured data, by site; then pages with their structured data removed, by
    field."""
    sites = _sites(data / "html_job_page_swde")
    parts = {part: _merge(hits for site, hits in sites.items() if part_of(site) == part)
             for part in ("dev", "unseen")}  # fmt: skip
    rows = [
        *(_row(f"{site} ({part_of(site)})", hits) for site, hits in sites.items()),
        *(_row(f"all of {part}", hits) for part, hits in parts.items()),
    ]
    headings = (*TARGETS, "first heading is title", "date where none is shown", *_COLUMNS[-3:])
    return Report(
        "Pages of sites without an adapter",
        ("pages", *headings),
        [*rows, *_robbed(data)],
        [goal for part, hits in parts.items() for goal in _goals(part, hits)],
        NOTES,
    )


def part_of(site: str) -> str:
    """The part of a site, the same on every run and machine, whatever sites the sample has."""
    return "unseen" if hashlib.sha256(site.encode()).digest()[0] % 2 else "dev"


def _merge(sites: Iterable[Hits]) -> Hits:
    merged: Hits = defaultdict(list)
    for hits in sites:
        for name, some in hits.items():
            merged[name] += some
    return merged


def _goals(part: str, hits: Hits) -> list[Goal]:
    """One goal for each field that the sites of the part show."""
    right = [
        Goal(f"{part} {name} right", share(hits[name]), least)
        for name, least in TARGETS.items()
        if hits[name]
    ]
    return [
        *right,
        Goal(f"{part} open or closed right", share(hits["status"]), 1),
        Goal(f"{part} notice read as closed", share(hits["notice"]), 1),
        Goal(f"{part} choice read as open", share(hits["choice"]), 1),
    ]


def _row(name: str, hits: Hits) -> tuple[str, ...]:
    return (name, *(_shown(hits.get(field, [])) for field in _COLUMNS))


def _shown(hits: list[bool]) -> str:
    return f"{share(hits):.3f}" if hits else "-"


def _sites(folder: Path) -> dict[str, Hits]:
    sites: dict[str, Hits] = {}
    for line in (folder / "truth.jsonl").read_text().splitlines():
        true = json.loads(line)
        hits = sites.setdefault(true["site"], defaultdict(list))
        for name, hit in judge((folder / true["file"]).read_bytes(), true):
            hits[name].append(hit)
    return sites


def judge(body: bytes, true: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """For each field, whether the page is read correctly, with its URL."""
    base = _BASE.search(body, 0, 1_000)
    url = base[1].decode() if base else ""

    def read(page: bytes) -> PageReading:
        return page_reader.read_posting(page, url, expected=True, now=CAPTURED_AT)

    reading = read(body)
    yield "status", reading.closed == (STATED_CLOSED in body)
    if STATED_CLOSED not in body:
        yield "notice", read(_BODY.sub(lambda tag: tag[0] + NOTICE, body, count=1)).closed
        yield "choice", not read(_BODY.sub(lambda tag: tag[0] + CHOICES, body, count=1)).closed
    posting = reading.posting or Posting("")
    yield "title", _same(posting.title, true["title"])
    yield "company", _same(posting.company, true["company"])
    yield "location", _same(posting.location, true["location"])
    if true["date_posted"]:
        day = posting.posted_at.date() if posting.posted_at else None
        yield "date", day is not None and day in map(_day, true["date_posted"])
    else:
        yield "no date", posting.posted_at is not None
    tree = LexborHTMLParser(body)
    heading = tree.css_first("h1") or tree.css_first("h2,h3")
    yield "baseline", _same(heading.text() if heading else "", true["title"])


def _squeeze(words: str) -> str:
    return re.sub(r"[\W_]+", " ", html.unescape(words).casefold()).strip()


def _same(value: str | None, accepted: list[str]) -> bool:
    """Equal except for case, spaces and punctuation."""
    return bool(value) and _squeeze(value or "") in map(_squeeze, accepted)


def _day(shown: str) -> dt.date | None:
    """The day of a label, parsed without the code under test."""
    if iso := re.search(r"\d{4}-\d\d-\d\d", shown):
        return dt.date.fromisoformat(iso[0])
    if words := re.search(r"[A-Z][a-z]+ \d{1,2}, \d{4}", html.unescape(shown)):
        return dt.datetime.strptime(words[0], "%B %d, %Y").replace(tzinfo=dt.UTC).date()
    return None


def _robbed(data: Path) -> list[tuple[str, ...]]:
    """One row: pages with JSON-LD, microdata and script data removed."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in TARGETS}
    pages = 0
    for file in sorted(data.glob("html_*/*.html")):
        body = file.read_bytes()
        if (
            b"JobPosting" not in body
            or (stated := page_reader.read_posting(body, "")).method != "json-ld"
        ):
            continue
        assert stated.posting
        pages += 1
        posting = page_reader.read_posting(_without(body), "").posting
        for name, count in counts.items():
            _compare(count, _fact(stated.posting, name), _fact(posting, name))
    figures = (f"{_f1(counts[name]):.3f}" for name in TARGETS)
    return [(f"without JSON-LD ({pages} pages, F1)", *figures, *["-"] * 5)]


def _without(body: bytes) -> bytes:
    tree = LexborHTMLParser(body)
    tree.strip_tags(["script"], recursive=True)
    return re.sub(r"\sitem(?:prop|type|scope)\b", " data-was", tree.html or "").encode()


def _fact(posting: Posting | None, name: str) -> str:
    if not posting:
        return ""
    if name == "date":
        return posting.posted_at.date().isoformat() if posting.posted_at else ""
    fact = {"title": posting.title, "company": posting.company, "location": posting.location}[name]
    # A city is the same with more or less of its region and country.
    return _squeeze((fact or "").partition(",")[0] if name == "location" else fact or "")


def _compare(count: Counter[str], stated: str, visible: str) -> None:
    count["stated"] += bool(stated)
    count["found"] += bool(visible)
    count["right"] += bool(stated) and f" {stated} " in f" {visible} "


def _f1(count: Counter[str]) -> float:
    both = count["stated"] + count["found"]
    return 2 * count["right"] / both if both else 0.0
