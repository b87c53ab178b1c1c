"""Which site is a company's own, as far as a posting tells."""

from __future__ import annotations

from urllib.parse import urlsplit

from jobmill.catalog.posting import Posting

from . import url_detection
from .name_matching import Names, same, squash


def of_posting(posting: Posting) -> str | None:
    """The site that the posting names, else its page's, if that bears the company's name."""
    if posting.company_url and url_detection.from_url(posting.company_url) is None:
        return posting.company_url
    if not posting.company or posting.via:
        return None
    return next(
        (
            site
            for url in (posting.url, posting.apply_url)
            if url and (site := _own(url, posting.company))
        ),
        None,
    )


def _own(url: str, company: str) -> str | None:
    # A vendor's domain bears its own name, and a board's token would look like the company's.
    parts = url_detection.split(url)
    if parts is None or url_detection.from_url(url) is not None:
        return None
    own = any(same(name, squash(company)) for name in Names.of(url, None).names)
    return f"{parts.scheme}://{urlsplit(url).netloc}" if own else None
