"""Reads the own page of a listing that its source shows only in part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from jobmill.boards import company_site, single_posting
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.boards.single_posting import ClosedPosting, ReadPosting, UnclearPage
from jobmill.catalog import history, listing_pages, listings, posting_merge, save_posting
from jobmill.catalog.listing_pages import ListingPage, PageOutcome, PageRead
from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import Posting
from jobmill.db import Tx
from jobmill.errors import Invalid, OutsideError
from jobmill.matching import local_verdict
from jobmill.matching.profile import Profile
from jobmill.queue import Work
from jobmill.queue.stages import Save
from jobmill.tools import Tools

_TITLE_RULES = frozenset({"excluded_company", "excluded_domain", "excluded_keyword", "role_type"})
"""Rejections that no further text can lift."""


@dataclass(frozen=True, slots=True)
class PageReader:
    """Reads pages for sources, as many as the rotation may make calls."""

    tools: Tools
    environ: Mapping[str, str]
    per_day: float

    async def read(self, work: Work, listing: Listing) -> PageResult:
        """Read the listing's page, or the page to apply at; raises the error of a failure that may
        pass while the item has retries left."""
        async with self.tools.db.transaction() as tx:
            spent = await listing_pages.count_recent(tx) >= self.per_day
        if spent:
            note = "the day's budget of calls was spent"
            return _nothing(listing, listing.url, "postponed", note)
        notes: list[str] = []
        for url in _page_urls(listing):
            try:
                page = await single_posting.read_page_of_listing(
                    self.tools.db, self.tools.fetch, url, self.environ
                )
            except OutsideError as error:
                if not error.permanent and work.retry_count < work.max_retries:
                    raise
                notes.append(str(error))
                continue
            result = _use(listing, url, page)
            if not isinstance(result, str):
                return result
            notes.append(result)
        return _nothing(listing, listing.url, "unreadable", "; ".join(notes))


@dataclass(frozen=True, slots=True)
class PageResult:
    """What the page says about a listing."""

    save: Save
    """Stores it."""
    method: str | None = None
    """How the page was read; None if nothing was taken from it."""
    closed: str | None = None
    """Why the listing is closed."""


async def is_wanted(
    profile: Profile, listing: Listing, page: ListingPage | None, *, due: bool
) -> bool:
    """Whether to read the listing's page: its source shows it in part, and it is not rejected for
    its title or company."""
    republished = PLATFORM_RULES.ids(listing.platform).aggregator
    posting = listings.to_posting(listing)
    is_part = posting_merge.shows_part(posting, republished=republished) or (
        page is not None and bool(page.fields)
    )
    if not (due and is_part and _page_urls(listing)):
        return False
    result = await local_verdict.apply_filter(profile, listing, PLATFORM_RULES)
    return not any(rejection.rule in _TITLE_RULES for rejection in result.hard_rejections)


def _page_urls(listing: Listing) -> list[str]:
    """The listing's pages that can be requested, each once."""
    pages: dict[str, str] = {}
    for url in (listing.url, listing.apply_url):
        try:
            pages.setdefault(PLATFORM_RULES.canonical(url or ""), url or "")
        except Invalid:
            continue
    return list(pages.values())


def _use(
    listing: Listing, url: str, page: ReadPosting | ClosedPosting | UnclearPage
) -> PageResult | str:
    """What to take from a page, or why nothing."""
    if isinstance(page, ClosedPosting):
        # A board that lists everything that is open is more reliable than a page.
        if not PLATFORM_RULES.ids(listing.platform).aggregator or url != listing.url:
            return page.reason
        return _closed(listing, url, page.reason)
    posting = page.posting
    if posting is None or not posting.description:
        return f"{url}: no job could be read"
    if not posting_merge.is_same_job(listings.to_posting(listing), posting):
        return f"{url} shows another job: {posting.title}"
    method = page.method if isinstance(page, ReadPosting) else "text"
    return _complete(listing, url, posting, method)


def _complete(listing: Listing, url: str, posting: Posting, method: str) -> PageResult:
    website = company_site.website_of(
        replace(posting, company=listing.company or posting.company, via=listing.via)
    )
    save = partial(
        save_posting.complete,
        stored=listing,
        page=posting,
        read=PageRead(url, "read", method),
        platforms=PLATFORM_RULES,
        website=website,
    )
    return PageResult(save, method=f"page:{method}")


def _nothing(listing: Listing, url: str, outcome: PageOutcome, note: str) -> PageResult:
    read = PageRead(url, outcome, note=note[:1_000])
    return PageResult(partial(_record, listing=listing, read=read))


def _closed(listing: Listing, url: str, why: str) -> PageResult:
    read = PageRead(url, "closed", note=why)
    return PageResult(partial(_record, listing=listing, read=read), closed=why)


async def _record(tx: Tx, *, listing: Listing, read: PageRead) -> None:
    await listing_pages.record(tx, listing.id, read)
    if read.outcome == "closed":
        await listings.close(tx, listing.id, read.note or "")
    elif read.outcome == "unreadable":
        await history.record(tx, "listing", listing.id, "page not read", why=read.note)
