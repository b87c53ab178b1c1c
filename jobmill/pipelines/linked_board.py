"""Starts the discovery of a job board that a listing links to and that is not known yet."""

from __future__ import annotations

from dataclasses import dataclass

from jobmill.boards import url_detection
from jobmill.boards.adapters import PLATFORM_RULES, find_platform
from jobmill.boards.name_matching import OwnerNames
from jobmill.boards.url_detection import FEED, GENERIC, DetectedBoard
from jobmill.catalog import board_sightings, company_analyses
from jobmill.catalog.companies import Company
from jobmill.catalog.company_analyses import CompanyBoard
from jobmill.catalog.listings import Listing
from jobmill.db import Tx
from jobmill.matching.profile import Profile
from jobmill.matching.rules import stop_lists
from jobmill.pipelines import discovery
from jobmill.pipelines.discovery import DiscoveryConfig
from jobmill.queue import NewItem


@dataclass(frozen=True, slots=True)
class LinkedBoard:
    """A board that a listing links to."""

    board: DetectedBoard
    token: str
    listing: Listing
    company: Company | None
    """The listing's company, if the board bears its name."""

    def discovery_item(self) -> NewItem:
        company = self.company
        config = DiscoveryConfig(
            url=self.board.url or self.listing.apply_url or self.listing.url,
            type_hint=self.board.platform,
            company_id=company.id if company else None,
            company_name=company.name if company else None,
        )
        return discovery.new_item(config, via="automated_scan")

    async def record(self, tx: Tx) -> None:
        await board_sightings.record(
            tx, self.board.platform, self.token, url=self.board.url, listing_id=self.listing.id
        )


async def find_new(
    tx: Tx, listing: Listing, company: Company | None, profile: Profile
) -> LinkedBoard | None:
    """The board to discover: one that the listing links to and that can be read, is no source, was
    not rejected, is on no stop list and was not discovered lately."""
    for url in (listing.apply_url, listing.url):
        board = url_detection.detect_board(url) if url else None
        if board is None or board.token is None or not _is_readable(board):
            continue
        owner = company if company and OwnerNames.of("", company.name).match_board(board) else None
        if _is_refused(board, owner, profile):
            continue
        if await board_sightings.is_new(tx, board.platform, board.token):
            return LinkedBoard(board, board.token, listing, owner)
    return None


def _is_readable(board: DetectedBoard) -> bool:
    platform = find_platform(board.platform)
    is_board = platform.name not in (FEED, GENERIC) and not platform.posting_ids.aggregator
    return is_board and platform.first_request is not None and not platform.disabled


def _is_refused(board: DetectedBoard, company: Company | None, profile: Profile) -> bool:
    """Whether a person excluded the board: by a stop list, or by rejecting it for its company."""
    name = company.name if company else board.token
    if stop_lists.find_rejection(profile, PLATFORM_RULES, url=board.url, company=name):
        return True
    if company is None or company.job_board_decision != "rejected" or not board.url:
        return False
    same = CompanyBoard(board.url, board.platform, board.confidence, board.evidence, board.token)
    return company_analyses.is_same_board(company, same, PLATFORM_RULES)
