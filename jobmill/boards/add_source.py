"""Adds a source: detects its board, tests it and saves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from jobmill.catalog import companies, sources
from jobmill.catalog.companies import CompanyId
from jobmill.catalog.sources import NewSource
from jobmill.db import Tx
from jobmill.errors import Invalid, OutsideError
from jobmill.outside.request import Ok, Request
from jobmill.queue import Work
from jobmill.sandbox import read_untrusted
from jobmill.tools import Tools

from . import detection, source_reader
from .adapters import find_platform
from .html_detection import detect_boards
from .platform import Confidence, Platform
from .readable_board import ReadableBoard, open_board
from .selectors.selector_search import search_selectors
from .source_reader import BoardSample
from .url_detection import FEED, GENERIC, DetectedBoard

AUTO = "auto"


def may_enable(
    platform: Platform,
    confidence: Confidence,
    *,
    validated: bool,
    tested: bool,
    auto: bool = True,
    ask: bool = False,
    approved: bool = False,
) -> bool:
    """Whether a source is enabled without approval. After a person approved it, only a test is needed;
    otherwise a board that was not detected with certainty waits for a person."""
    if approved and tested:
        return True
    if ask or not auto or confidence == "low":
        return False
    if platform.enable_after_test:
        return tested
    if confidence != "high":
        return False
    return tested or (validated and platform.enable_on_response)


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """A source to add: a URL, or a platform with its token or config."""

    url: str | None = None
    platform: str | None = None
    token: str | None = None
    config: dict[str, Any] | None = None
    name: str | None = None
    company: str | None = None
    website: str | None = None
    test: bool = True
    enable: bool = False


@dataclass(frozen=True, slots=True)
class AddedSource:
    id: int
    name: str
    platform: str
    token: str
    new: bool
    status: str
    confidence: str
    evidence: str
    postings: int | None
    note: str


async def add_source(
    tools: Tools, request: SourceRequest, environ: Mapping[str, str]
) -> AddedSource:
    """Save a source. It is enabled if its board was detected with certainty and the test passed, or if
    the request says so; otherwise it waits for approval."""
    detected = await complete_config(tools, await _detect_requested(tools, request))
    board = open_board(find_platform(detected.platform), detected.config or {}, environ)
    sample = await _sample(tools, board) if request.test else None
    async with tools.db.transaction() as tx:
        new = await _new_source(tx, request, detected, board, sample)
        passed = sample is not None and passes_test(board.platform, sample)
        enabled = may_enable(board.platform, detected.confidence, validated=passed, tested=passed)
        id, created = await sources.add(tx, new, enabled=enabled or request.enable)
        if sample and sample.ok:
            await sources.mark_tested(tx, id)
        source = await sources.get(tx, id)
    return AddedSource(
        id=id,
        name=source.name,
        platform=source.source_type,
        token=source.token,
        new=created,
        status=source.status,
        confidence=detected.confidence,
        evidence=detected.evidence,
        postings=sample.first_page_count if sample else None,
        note=_note(source.id, created, source.status, sample),
    )


def passes_test(platform: Platform, sample: BoardSample) -> bool:
    return sample.ok and (sample.first_page_count > 0 or may_be_empty(platform))


def may_be_empty(platform: Platform) -> bool:
    """Whether an empty board passes a test; an empty feed or page proves nothing."""
    return platform.allow_empty and platform.inventory


async def _detect_requested(tools: Tools, request: SourceRequest) -> DetectedBoard:
    if request.platform:
        return _named_board(request, find_platform(request.platform))
    if not request.url:
        raise Invalid("name the source to add: a URL, or --platform with --token or --config")
    return await detect_board_at(tools, request.url, company=request.company)


async def detect_board_at(
    tools: Tools, url: str, *, hint: str = AUTO, company: str | None = None
) -> DetectedBoard:
    """The board at a URL, of the platform that the hint names; OutsideError where there is none."""
    if hint == GENERIC:
        return DetectedBoard(GENERIC, url, "low", "named as a page with postings", url=url)
    board = await detection.discover_board(tools.fetch, url, company=company)
    if hint not in (AUTO, board.platform if board else None):
        return await _detect_hinted(tools, url, hint, company)
    if board is None:
        raise OutsideError(
            f"no board was recognised at {url}: give the URL of the board or of the list of "
            "postings itself",
            permanent=True,
        )
    return replace(board, url=board.url or url)


async def _detect_hinted(tools: Tools, url: str, hint: str, company: str | None) -> DetectedBoard:
    """The board of that platform among all that the page refers to."""
    if hint == FEED:
        return DetectedBoard(FEED, url, "high", "named as a feed", {"url": url}, url=url)
    page = await tools.fetch(Request(url, page=True))
    if isinstance(page, Ok):
        board = await read_untrusted(_find_hinted, page.url, page.text, hint, company)
        if board:
            return board
    raise OutsideError(
        f"no board of {find_platform(hint).title} was found at {url}: give the URL of the board "
        "itself, or do not name a platform",
        permanent=True,
    )


def _find_hinted(url: str, html: str, hint: str, company: str | None) -> DetectedBoard | None:
    boards = detect_boards(url, html, company=company)
    return next((board for board in boards if board.platform == hint and board.token), None)


async def complete_config(
    tools: Tools, board: DetectedBoard, work: Work | None = None
) -> DetectedBoard:
    """The board with a config that can be read. For a page that is not a readable board, selectors are
    searched; where none are found, OutsideError says what to do."""
    if not _needs_selectors(board):
        return board
    url = (board.config or {}).get("url") or board.url
    if not url:
        raise OutsideError(
            f"{_why_unreadable(board)}: give the URL of the board itself", permanent=True
        )
    chosen = await search_selectors(tools, url, work)
    if chosen is None:
        raise OutsideError(
            f"{_why_unreadable(board)}, and no list of postings on {url}: give the URL of the list "
            "itself, or `--platform html` with `--config` that holds selectors",
            permanent=True,
        )
    page: str = chosen.config["url"]
    return replace(
        board,
        platform=GENERIC,
        token=page,
        config=chosen.config,
        confidence=chosen.confidence,
        evidence=f"{board.evidence}; {chosen.evidence}",
        url=page,
    )


def _needs_selectors(board: DetectedBoard) -> bool:
    if board.platform == GENERIC:
        return not (board.config or {}).keys() - {"url", "method"}
    return board.config is None or find_platform(board.platform).first_request is None


def _why_unreadable(board: DetectedBoard) -> str:
    if board.platform == GENERIC:
        return "no board was recognised"
    title = find_platform(board.platform).title
    if board.config is None:
        return f"{title} is used, but its board could not be identified"
    return f"{title} is recognised but cannot be read yet"


def _named_board(request: SourceRequest, platform: Platform) -> DetectedBoard:
    """The board that the request itself names."""
    config = dict(request.config or {})
    if request.token:
        config["board_token"] = request.token
    if request.url and "url" in platform.config.model_fields:
        config.setdefault("url", request.url)
    return DetectedBoard(
        platform=platform.name,
        token=request.token,
        confidence=platform.confidence,
        evidence="named by the user",
        config=config,
        url=request.url or "",
    )


async def _sample(tools: Tools, board: ReadableBoard) -> BoardSample:
    sample = await source_reader.sample_board(tools.fetch, board)
    if sample.cause == "gone":
        raise Invalid(f"there is no such board at {board.platform.title}: {sample.detail}")
    return sample


async def _new_source(
    tx: Tx,
    request: SourceRequest,
    detected: DetectedBoard,
    board: ReadableBoard,
    sample: BoardSample | None,
) -> NewSource:
    platform, token = board.platform, board.platform.token(board.config)
    company = request.company or _common_company(sample)
    id: CompanyId | None = None
    if request.company:
        id = await companies.get_or_create(tx, request.company, request.website)
    return NewSource(
        name=request.name or f"{company or token} {platform.title}",
        source_type=platform.name,
        token=token,
        config=detected.config or {},
        url=detected.url or request.url,
        company_id=id,
        company_name=company,
        relation=detected.relation,
        discovery_confidence=detected.confidence,
        evidence=detected.evidence,
        validation_required=detected.confidence != "high" and not request.enable,
    )


def _common_company(sample: BoardSample | None) -> str | None:
    """The company that all postings of the sample name; None for aggregators."""
    postings = sample.postings if sample else ()
    names = {posting.company for posting in postings}
    return names.pop() if len(names) == 1 and not any(posting.via for posting in postings) else None


def _note(id: int, created: bool, status: str, sample: BoardSample | None) -> str:
    if not created:
        problem = "" if sample is None or sample.ok else f" {sample.summary}"
        return f"This source already exists; nothing was changed.{problem}"
    if status == "active":
        return "It is enabled."
    test, approve = f"`jobmill source test {id}`", f"`jobmill approval approve source:{id}`"
    if sample and not sample.ok:
        return f"{sample.summary} It waits for approval: run {test} again, then {approve}."
    return f"It waits for your approval: check {test}, then run {approve}."
