"""Test a source while a person waits. Its first postings are stored only in the item's data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobmill.boards import source_reader
from jobmill.catalog.posting import Posting, format_salary
from jobmill.errors import Conflict, Invalid, NotFound, Unavailable
from jobmill.queue import Finish, Move, NewItem, Skip, Work
from jobmill.tools import Tools

KIND = "source_test"
INTERACTIVE_PRIORITY = 10
"""Priority of work that a person is waiting for."""
EXCERPT_LENGTH = 600


def new_item(id: int) -> NewItem:
    """The item that tests a source, without retries: the person can start another test."""
    return NewItem(
        KIND,
        "try",
        f"source:{id}",
        data={"source": id},
        priority=INTERACTIVE_PRIORITY,
        max_retries=0,
    )


async def try_source(tools: Tools, environ: Mapping[str, str], work: Work) -> Move:
    """Fetch the first page. The item's data holds the postings, its message the summary."""
    try:
        sample = await source_reader.test_source(tools, work.data["source"], environ)
    except (Conflict, Invalid, NotFound, Unavailable) as error:
        return Skip(str(error))
    end = Finish if sample.ok else Skip
    result = {
        "ok": sample.ok,
        "cause": sample.cause,
        "seen": sample.first_page_count,
        "total": sample.total,
        "postings": [_summarize(posting) for posting in sample.postings],
    }
    return end(sample.summary, data={**work.data, "found": result})


def _summarize(posting: Posting) -> dict[str, Any]:
    """The fields that show whether a posting was read correctly."""
    salary = posting.salary
    text = posting.description or ""
    return {
        "title": posting.title,
        "url": posting.url or None,
        "company": posting.company,
        "location": posting.location or "; ".join(posting.locations) or None,
        "arrangement": posting.arrangement,
        "pay": format_salary(salary.min, salary.max, salary.currency, salary.period)
        if salary
        else None,
        "posted_at": posting.posted_at and posting.posted_at.isoformat(),
        "text": text[:EXCERPT_LENGTH] + ("…" if len(text) > EXCERPT_LENGTH else ""),
    }
