"""Add boards that a person lists: parse the lines, save the boards as sources and fetch them next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from jobmill import queue
from jobmill.boards import detection
from jobmill.boards.adapters import find_platform
from jobmill.boards.url_detection import FEED, GENERIC
from jobmill.catalog import companies, source_import, urls
from jobmill.catalog.sources import NewSource
from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid, Unavailable
from jobmill.pipelines.discovery import DiscoveryConfig
from jobmill.queue import AcceptedItem, NewItem
from jobmill.rotation import bundled_companies, searches, targets
from jobmill.rotation.company_suggestions import SearchSuggestion

from . import discovery, source

MAX_LINES = 1_000
"""Maximum lines per request; `jobmill rotate import` has no limit."""


@dataclass(frozen=True, slots=True)
class BoardChoices:
    """The boards and pages that the lines name."""

    boards: Sequence[NewSource] = ()
    pages: Sequence[DiscoveryConfig] = ()
    """Pages on which a board is still to be detected."""
    invalid: Sequence[tuple[str, str]] = ()
    """Invalid lines, each with the reason."""


@dataclass(frozen=True, slots=True)
class AddedBoards:
    boards: int
    new: int
    queued: int
    """Boards that are fetched next; the rotation reads the others later."""
    pages: int


def parse_lines(lines: Iterable[str]) -> BoardChoices:
    """Parse boards (PLATFORM/SLUG or URL) and pages that may link to one."""
    entries = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if len(entries) > MAX_LINES:
        raise Invalid(
            f"You can add at most {MAX_LINES:,} lines in one step. Add the rest in a second step."
        )
    boards: dict[tuple[str, str], NewSource] = {}
    pages: list[DiscoveryConfig] = []
    invalid: list[tuple[str, str]] = []
    for line in entries:
        try:
            parsed = _parse_line(line)
        except Invalid as error:
            invalid.append((line, str(error)))
            continue
        if isinstance(parsed, NewSource):
            boards[parsed.source_type, parsed.token] = parsed
        else:
            pages.append(parsed)
    return BoardChoices(list(boards.values()), pages, invalid)


def _parse_line(line: str) -> NewSource | DiscoveryConfig:
    if "." not in line.partition("/")[0] and ":" not in line:
        return bundled_companies.source_for_key(line)
    url = line if "://" in line else f"https://{line}"
    urls.parse(url)
    return _detect_board(url) or DiscoveryConfig(url=url)


def _detect_board(url: str) -> NewSource | None:
    """The board at this URL, if the URL alone identifies one that we can read."""
    detected = detection.detect_likeliest_board(url)
    if detected is None or not detected.token or detected.config is None:
        return None
    platform = find_platform(detected.platform)
    if platform.disabled or platform.first_request is None or platform.name in (FEED, GENERIC):
        return None
    [company] = bundled_companies.companies_by_keys([f"{platform.name}/{detected.token}"]) or [None]
    return NewSource(
        name=company.name if company else f"{detected.token} {platform.title}",
        source_type=platform.name,
        token=detected.token,
        config=detected.config,
        url=detected.url or url,
        company_name=company.name if company else None,
        relation=detected.relation,
        evidence=detected.evidence,
    )


async def add_boards(tx: Tx, choices: BoardChoices, *, by: str) -> AddedBoards:
    """Save the boards as enabled sources, queue the new ones, and discover the pages."""
    company_names = [choice.company_name for choice in choices.boards if choice.company_name]
    company_ids = await companies.get_or_create_all(tx, company_names)
    new_sources = [
        replace(choice, discovered_by=by, company_id=company_ids.get(choice.company_name or ""))
        for choice in choices.boards
    ]
    added = await source_import.add_all(tx, new_sources, enabled=True)
    new_ids = sorted({id for id, new in added if new})
    await targets.add_new(tx, new_ids)
    discoveries = [
        discovery.new_item(choice, via="user_submission", approved=True, by=by)
        for choice in choices.pages
    ]
    queued = await _submit_items(tx, [source.new_item(id) for id in new_ids])
    return AddedBoards(
        len({id for id, _ in added}), len(new_ids), queued, await _submit_items(tx, discoveries)
    )


async def add_searches(tx: Tx, suggestions: Iterable[SearchSuggestion]) -> int:
    """Save the suggested searches, and return how many were not saved before. The rotation reads them."""
    added = 0
    for suggestion in suggestions:
        try:
            async with tx.transaction():
                await searches.add(
                    tx, suggestion.platform, suggestion.keywords, suggestion.locations
                )
            added += 1
        except Conflict:
            pass  # Another person has saved the same search.
    return added


async def _submit_items(tx: Tx, new_items: Sequence[NewItem]) -> int:
    """Submit the items and count the accepted ones. The rotation picks up what a full queue
    refuses."""
    try:
        results = await queue.submit_all(tx, new_items) if new_items else []
    except Invalid as error:
        raise Unavailable(
            "Nothing was added, because no worker has run yet. Start a worker, then try again."
        ) from error
    return sum(isinstance(result, AcceptedItem) for result in results)
