"""Which source a URL belongs to."""

from __future__ import annotations

from jobmill.catalog import sources
from jobmill.catalog.sources import Source
from jobmill.db import Tx

from . import url_detection


async def source_for_url(tx: Tx, url: str) -> Source | None:
    """The source whose board the URL names, else the only one on the URL's domain."""
    found = url_detection.from_url(url)
    board = (found.platform, found.token) if found and found.token else None
    return await sources.find_by_url(tx, url, board=board)
