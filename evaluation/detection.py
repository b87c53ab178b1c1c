"""Measure how well boards are detected from URLs and pages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from evaluation import fields
from evaluation.goal import Goal, Report
from evaluation.score import share
from jobmill.boards import detection, url_detection
from jobmill.boards.adapters import BY_NAME
from jobmill.boards.url_detection import FEED, GENERIC, DetectedBoard

NAMES = {"oracle_hcm": "oracle", "join_com": "join", "beisen_legacy": "beisen"}
PLATFORM, TOKEN, FALSE, EMBEDS, HIGH = 0.98, 0.97, 0.01, 1.0, 0.97
SECOND = {"co", "com", "org", "net", "gov", "govt", "ac", "edu"}
VENDOR = 3  # A domain that this many boards of one platform share belongs to the vendor.


@dataclass(frozen=True)
class LabelledAddress:
    """A URL with the platform and token it should be detected as."""

    url: str
    platform: str | None
    token: str | None = None
    """None if the data have none."""
    company: str = ""


def report(data: Path) -> Report:
    """Platform and token by URL, boards by page, and false positives."""
    rows = [*_tokens(data), *_companies(data)]
    vendors = _vendors(rows)
    labelled = [_with_vendor(row, vendors) for row in [*rows, *_postings(data)]]
    decidable = [row for row in labelled if row.platform and _domain(row.url) in vendors]
    shared = _shared(rows)
    nothing = [row for row in rows if not row.platform and _domain(row.url) not in shared]
    unnamed = [
        row for row in labelled[: len(rows)] if not row.platform and _domain(row.url) in shared
    ]
    own_domains = [row for row in labelled if row.platform and _domain(row.url) not in vendors]

    answers = {row: url_detection.detect_board(row.url) for row in decidable}
    named = {row: board for row, board in answers.items() if row.token}
    pages = [detection.detect_likeliest_board("", html) for html in _pages(data)]
    false = sum(
        map(_is_board, (*pages, *(detection.detect_likeliest_board(row.url) for row in nothing)))
    )
    embeds = [*_embeds(data)]
    sure = [(row, board) for row, board in answers.items() if board and board.confidence == "high"]
    goals = [
        Goal("platform right", share(_platform_right(*pair) for pair in answers.items()), PLATFORM),
        Goal("token right", share(_token_right(*pair) for pair in named.items()), TOKEN),
        Goal("false positives", false / (len(pages) + len(nothing) or 1), FALSE, at_most=True),
        Goal("embeds found", share(embeds), EMBEDS),
        Goal("precision at high", share(_wholly_right(*pair) for pair in sure), HIGH),
    ]
    left_out = sum(_is_board(detection.detect_likeliest_board(row.url)) for row in unnamed)
    strict = (false + left_out) / (len(pages) + len(nothing) + len(unnamed) or 1)
    notes = [
        *_notes(
            own_domains=len(own_domains), pages=len(pages), nothing=len(nothing), embeds=len(embeds)
        ),
        f"{len(unnamed)} addresses on shared domains that the data names no platform for are left",
        f"out; we name one for {left_out}. Counted as false positives, these make it {strict:.4f}.",
    ]
    columns = ("platform", "addresses", "platform right", "with token", "token right")
    return Report("Detection", columns, [*_table(answers)], goals, notes)


def _notes(*, own_domains: int, pages: int, nothing: int, embeds: int) -> list[str]:
    return [
        f"An address counts when its domain serves {VENDOR} or more boards of its platform here;",
        f"{own_domains} boards on companies' own domains cannot be told from the address alone.",
        "Tokens are compared where the data has one, without regard to case; the data may name",
        "only the first part (an Oracle host without its site).",
        f"False positives: {pages} pages of companies without a board, and {nothing} addresses of",
        f"career pages, except on domains that {VENDOR} companies share; feeds and generic pages are",
        "no boards.",
        f"Embeds: {embeds} snippets, by the first answer; where the data has no token, the",
        "platform is enough.",
    ]


def _tokens(data: Path) -> Iterator[LabelledAddress]:
    for file in sorted((data / "company_tokens").glob("*.csv")):
        name = NAMES.get(file.stem, file.stem)
        for line in fields.table(file):
            slug = line.get("slug") or ""
            if name in BY_NAME:
                yield LabelledAddress(
                    line["url"], name, None if slug.startswith("http") else slug or None
                )


def _companies(data: Path) -> Iterator[LabelledAddress]:
    for line in fields.table(
        data / "source_detection_truth" / "company_website_to_board.tsv", "\t"
    ):
        name = NAMES.get(line["monitor_type"], line["monitor_type"])
        config = json.loads(line["monitor_config"] or "{}")
        is_platform = name in BY_NAME and name != FEED
        platform = name if is_platform else None
        yield LabelledAddress(line["board_url"], platform, _token(name, config), line["company"])


def _token(name: str, config: dict[str, str]) -> str | None:
    if name == "workday" and "site" in config:
        return f"{config['company']}/{config['site']}"
    if name == "oracle" and "host" in config:
        return f"{config['host'].split('.')[0]}/{config['site']}"
    keys = ("token", "slug", "tenant", "company_id", "company")
    return next((config[key] for key in keys if key in config), None)


def _postings(data: Path) -> Iterator[LabelledAddress]:
    file = data / "listings" / "simplify_newgrad_listings.jsonl"
    for line in file.read_text().splitlines() if file.exists() else ():
        yield LabelledAddress(json.loads(line)["url"], None)


def _pages(data: Path) -> Iterator[str]:
    for file in sorted((data / "html_company_page").glob("*.html")):
        yield file.read_text(errors="replace")


def _embeds(data: Path) -> Iterator[bool]:
    file = data / "source_detection_truth" / "embed_snippets.jsonl"
    for line in file.read_text().splitlines() if file.exists() else ():
        snippet = json.loads(line)
        board = detection.detect_likeliest_board(f"https://{snippet['site']}", snippet["html"])
        row = LabelledAddress("", snippet["ats"], snippet["token"])
        yield _wholly_right(row, board)


def _domain(url: str) -> str:
    """Approximately the registered domain, which is enough to distinguish vendors."""
    labels = (urlsplit(url).hostname or "").split(".")
    return ".".join(labels[-3:] if labels[-2:-1] and labels[-2] in SECOND else labels[-2:])


def _vendors(rows: Iterable[LabelledAddress]) -> dict[str, str]:
    """The platform of each domain according to the data alone, without our own patterns."""
    counted = Counter((_domain(row.url), row.platform) for row in rows if row.platform)
    return {
        domain: platform
        for (domain, platform), count in counted.items()
        if platform and count >= VENDOR
    }


def _shared(rows: Iterable[LabelledAddress]) -> set[str]:
    """Domains with pages of several companies, which belong to a vendor even if the data do not
    name it."""
    companies = {(_domain(row.url), row.company or row.url) for row in rows}
    counted = Counter(domain for domain, _ in companies)
    return {domain for domain, count in counted.items() if count >= VENDOR}


def _with_vendor(row: LabelledAddress, vendors: dict[str, str]) -> LabelledAddress:
    """Add the platform of the domain: the data omit it for boards that were read through a sitemap
    or feed."""
    return row if row.platform else LabelledAddress(row.url, vendors.get(_domain(row.url)))


def _is_board(board: DetectedBoard | None) -> bool:
    return board is not None and board.platform not in {FEED, GENERIC}


def _platform_right(row: LabelledAddress, board: DetectedBoard | None) -> bool:
    return board is not None and board.platform == row.platform


def _token_right(row: LabelledAddress, board: DetectedBoard | None) -> bool:
    if board is None or board.token is None or row.token is None:
        return False
    ours, theirs = board.token.lower(), row.token.lower()
    return ours == theirs or ours.startswith(f"{theirs}/")


def _wholly_right(row: LabelledAddress, board: DetectedBoard | None) -> bool:
    return _platform_right(row, board) and (row.token is None or _token_right(row, board))


def _table(answers: dict[LabelledAddress, DetectedBoard | None]) -> Iterator[tuple[str, ...]]:
    for platform in sorted({row.platform or "" for row in answers}):
        rows = [(row, board) for row, board in answers.items() if row.platform == platform]
        named = [(row, board) for row, board in rows if row.token]
        yield (
            platform,
            str(len(rows)),
            f"{share(_platform_right(*pair) for pair in rows):.4f}",
            str(len(named)),
            f"{share(_token_right(*pair) for pair in named):.4f}" if named else "",
        )
