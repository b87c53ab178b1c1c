"""Learns the website of a company that was met without one, from what the catalog knows already."""

from __future__ import annotations

import re

from jobmill.boards import company_site, url_detection
from jobmill.catalog import companies, sources
from jobmill.catalog.companies import Company
from jobmill.db import Tx
from jobmill.rotation import bundled_companies
from jobmill.rotation.bundled_companies import BundledCompany

_DISTINCTIVE = re.compile(r"\d|[a-z][A-Z]|[ .&]")
"""A name that is more than one everyday word: GitLab, 10x Genomics, but not Compass."""
MAX_LISTINGS = 50


async def learn(tx: Tx, company: Company, *, by_name: bool = False) -> Company:
    """The company with its website, if it is known or can be learned. `by_name`: a person named the
    company, so that the bundled list is believed even for an everyday word."""
    if company.website:
        return company
    website = (
        await _find_in_postings(tx, company)
        or await companies.find_website_by_name(tx, company.name)
        or _find_in_bundled_list(company, by_name or await _has_bundled_board(tx, company))
    )
    if website and await companies.add_site(tx, company.id, website):
        return await companies.get(tx, company.id)
    return company


async def _find_in_postings(tx: Tx, company: Company) -> str | None:
    """By the links and e-mail addresses in the company's newest listings, and its own sources."""
    own_sources = await sources.find(tx, company_id=company.id, limit=MAX_LISTINGS)
    links = [source.url for source in own_sources if source.url]
    texts: list[str] = []
    for listing in await companies.find_postings(tx, company.id, limit=MAX_LISTINGS):
        links += [url for url in (listing.apply_url, listing.url) if url]
        texts.append(listing.description or "")
    return company_site.find_site(company.name, links, texts)


def _find_in_bundled_list(company: Company, certain: bool) -> str | None:
    bundled = bundled_companies.find_by_name(company.name)
    if bundled and (certain or _DISTINCTIVE.search(bundled.name)):
        return bundled.website
    return None


async def _has_bundled_board(tx: Tx, company: Company) -> bool:
    """Whether the company has, or its listings link to, the board that the bundled list names."""
    bundled = bundled_companies.find_by_name(company.name)
    if bundled is None:
        return False
    for source in await sources.find(tx, company_id=company.id, limit=MAX_LISTINGS):
        if f"{source.source_type}/{source.token}".lower() == bundled.key.lower():
            return True
    postings = await companies.find_postings(tx, company.id, limit=MAX_LISTINGS)
    links = [url for posting in postings for url in (posting.url, posting.apply_url) if url]
    return any(_names_board(url, bundled) for url in links)


def _names_board(url: str, bundled: BundledCompany) -> bool:
    board = url_detection.detect_board(url)
    return board is not None and f"{board.platform}/{board.token}".lower() == bundled.key.lower()
