"""What a site tells candidates. Provisional."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

from jobmill.reports.findings import CrawledPage, Evidence, Fact, SiteFindings
from jobmill.reports.known_postings import KnownPosting


def analyze_site(
    pages: Sequence[CrawledPage],
    robots_txt: str | None,
    postings: Sequence[KnownPosting],
    *,
    site: str,
    company: str,
    read_at: dt.datetime,
    crawl_notes: Sequence[str],
    llms_txt: str | None,
) -> SiteFindings:
    facts = [
        Fact("description", match[1], Evidence(match[1], page.url))
        for page in pages
        if (match := re.search(r"<p>([^<]{1,500})</p>", page.html))
    ]
    return SiteFindings(site, company, read_at, tuple(facts), crawl_notes=tuple(crawl_notes))
