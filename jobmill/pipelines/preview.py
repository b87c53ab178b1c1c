"""Tries a source for somebody who watches: its first postings stay with the item, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobmill.boards import source_run
from jobmill.catalog.posting import Posting, format_salary
from jobmill.errors import Conflict, Invalid, NotFound, Unavailable
from jobmill.queue import Finish, Move, NewItem, Skip, Work
from jobmill.tools import Tools

KIND = "source_test"
SOON = 10
"""The priority of what a person waits for."""
EXCERPT = 600


def new_item(id: int) -> NewItem:
    """The item that tries a source; it is not tried again by itself, for whoever asked can."""
    return NewItem(KIND, "try", f"source:{id}", data={"source": id}, priority=SOON, max_retries=0)


async def try_source(tools: Tools, environ: Mapping[str, str], work: Work) -> Move:
    """Fetch the first page; what it showed is the item's result, how it went its message."""
    try:
        tried = await source_run.test_source(tools, work.data["source"], environ)
    except (Conflict, Invalid, NotFound, Unavailable) as error:
        return Skip(str(error))
    end = Finish if tried.ok else Skip
    found = {
        "ok": tried.ok,
        "cause": tried.cause,
        "seen": tried.first_page_count,
        "total": tried.total,
        "postings": [_shown(one) for one in tried.postings],
    }
    return end(tried.summary, data={**work.data, "found": found})


def _shown(posting: Posting) -> dict[str, Any]:
    """As much of a posting as tells whether it was read right."""
    pay = posting.salary
    text = posting.description or ""
    return {
        "title": posting.title,
        "url": posting.url or None,
        "company": posting.company,
        "location": posting.location or "; ".join(posting.locations) or None,
        "arrangement": posting.arrangement,
        "pay": format_salary(pay.min, pay.max, pay.currency, pay.period) if pay else None,
        "posted_at": posting.posted_at and posting.posted_at.isoformat(),
        "text": text[:EXCERPT] + ("…" if len(text) > EXCERPT else ""),
    }
