"""Completes a posting that a source shows in part with what the posting's own page says."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

from jobmill.catalog.posting import Posting

from . import job_titles

SHORT_TEXT: Final = 800
"""A shorter text of a feed or an aggregator is probably only the beginning."""
_CUT_TEXT: Final = 3_000
"""A text that ends in an ellipsis and is shorter than this was cut."""
_ELLIPSES: Final = ("…", "...", "[…]", "[...]", "…]", "...]")
_PAGE_FIRST: Final = ("arrangement", "description", "remote_from", "requirements", "salary")
"""Fields in which the page is more reliable: a source derives them from its short text."""
_SOURCE_FIRST: Final = (
    "apply_url", "company", "department", "employment_type", "language", "location", "locations",
    "posted_at", "requisition_id", "seniority", "tags", "valid_through",
)  # fmt: skip
"""Fields that the page only fills in where the source leaves them out."""


def shows_part(posting: Posting, *, republished: bool) -> bool:
    """Whether the source shows only a part of the posting. `republished`: the source is a feed or an
    aggregator, which often shows only the beginning of a text."""
    text = (posting.description or "").rstrip()
    if posting.partial or len(text) <= 100:
        return True
    if len(text) < _CUT_TEXT and text.endswith(_ELLIPSES):
        return True
    return republished and len(text) < SHORT_TEXT


def is_same_job(source: Posting, page: Posting) -> bool:
    """Whether a page that was reached from a posting shows that posting: a closed job often redirects
    to another one."""
    words = set(job_titles.parse_title(source.title).words)
    page_words = set(job_titles.parse_title(page.title).words)
    fewer = min(len(words), len(page_words))
    return fewer == 0 or 2 * len(words & page_words) >= fewer


def merge_page(
    source: Posting, page: Posting, earlier: Collection[str] = ()
) -> tuple[Posting, tuple[str, ...]]:
    """The completed posting, and the names of the fields that come from the page, sorted. `earlier`
    are the fields of the posting that an earlier read of the page filled in."""
    updates: dict[str, Any] = {}
    for name in _PAGE_FIRST:
        if _is_stated(name, page) and (name in earlier or _is_better(name, source, page)):
            updates[name] = getattr(page, name)
    for name in _SOURCE_FIRST:
        if (name in earlier or not getattr(source, name)) and getattr(page, name):
            updates[name] = getattr(page, name)
    names = tuple(sorted({*updates, *earlier}))
    partial = source.partial and "description" not in names
    return replace(source, **updates, partial=partial, company_url=page.company_url), names


def _is_stated(name: str, page: Posting) -> bool:
    if name == "salary":
        return page.salary is not None and page.salary.known != "predicted"
    return bool(getattr(page, name))


def _is_better(name: str, source: Posting, page: Posting) -> bool:
    if name == "description":
        return len(page.description or "") > len(source.description or "")
    return getattr(page, name) != getattr(source, name)
