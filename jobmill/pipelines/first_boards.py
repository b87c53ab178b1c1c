"""The first boards of somebody's own: read from what they chose, kept, and fetched as soon as may be."""

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
from jobmill.errors import Invalid, Unavailable
from jobmill.pipelines.discovery import DiscoveryConfig
from jobmill.queue import AcceptedItem, NewItem
from jobmill.rotation import bundled_companies, targets

from . import discovery, source

MOST = 1_000
"""So many at once; `jobmill rotate import` takes any number."""


@dataclass(frozen=True, slots=True)
class BoardChoices:
    """What lines ask for."""

    boards: Sequence[NewSource] = ()
    pages: Sequence[DiscoveryConfig] = ()
    """Where a board is still to be found."""
    wrong: Sequence[tuple[str, str]] = ()
    """Lines that are neither, each with why."""


@dataclass(frozen=True, slots=True)
class AddedBoards:
    boards: int
    new: int
    queued: int
    """How many are fetched next; the others come when it is their turn."""
    pages: int


def parse_lines(lines: Iterable[str]) -> BoardChoices:
    """Boards as PLATFORM/SLUG or by their URL, and pages that may lead to one."""
    given = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if len(given) > MOST:
        raise Invalid(f"That is more than {MOST:,} at once: `jobmill rotate import` takes a list.")
    found: dict[tuple[str, str], NewSource] = {}
    pages: list[DiscoveryConfig] = []
    wrong: list[tuple[str, str]] = []
    for line in given:
        try:
            one = _read(line)
        except Invalid as error:
            wrong.append((line, str(error)))
            continue
        if isinstance(one, NewSource):
            found[one.source_type, one.token] = one
        else:
            pages.append(one)
    return BoardChoices(list(found.values()), pages, wrong)


def _read(line: str) -> NewSource | DiscoveryConfig:
    if "." not in line.partition("/")[0] and ":" not in line:
        return bundled_companies.source_for_key(line)
    url = line if "://" in line else f"https://{line}"
    urls.parse(url)
    return _board(url) or DiscoveryConfig(url=url)


def _board(url: str) -> NewSource | None:
    """The board that the address gives away, if it is one that we can read."""
    found = detection.detect_likeliest_board(url)
    if found is None or not found.token or found.config is None:
        return None
    platform = find_platform(found.platform)
    if platform.disabled or platform.first_request is None or platform.name in (FEED, GENERIC):
        return None
    [company] = bundled_companies.companies_by_keys([f"{platform.name}/{found.token}"]) or [None]
    return NewSource(
        name=company.name if company else f"{found.token} {platform.title}",
        source_type=platform.name,
        token=found.token,
        config=found.config,
        url=found.url or url,
        company_name=company.name if company else None,
        relation=found.relation,
        evidence=found.evidence,
    )


async def add_boards(tx: Tx, choices: BoardChoices, *, by: str) -> AddedBoards:
    """Keep the boards as sources that run, fetch the new ones next, and look at the pages."""
    named = [one.company_name for one in choices.boards if one.company_name]
    ids = await companies.get_or_create_all(tx, named)
    news = [
        replace(one, discovered_by=by, company_id=ids.get(one.company_name or ""))
        for one in choices.boards
    ]
    answers = await source_import.add_all(tx, news, enabled=True)
    fresh = sorted({id for id, new in answers if new})
    await targets.add_new(tx, fresh)
    looks = [
        discovery.new_item(one, via="user_submission", approved=True, by=by)
        for one in choices.pages
    ]
    queued = await _submit(tx, [source.new_item(id) for id in fresh])
    return AddedBoards(len({id for id, _ in answers}), len(fresh), queued, await _submit(tx, looks))


async def _submit(tx: Tx, news: Sequence[NewItem]) -> int:
    """How many were taken: what a full queue refuses, rotation calls in its turn."""
    try:
        answers = await queue.submit_all(tx, news) if news else []
    except Invalid as error:
        raise Unavailable(
            "No worker has ever run here, so nobody could fetch anything: start `jobmill up` or "
            "`jobmill worker`, then add them again. Nothing was added."
        ) from error
    return sum(isinstance(one, AcceptedItem) for one in answers)
