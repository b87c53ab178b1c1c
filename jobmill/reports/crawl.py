"""Which pages of a site a report reads. Provisional."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from jobmill.reports.findings import CrawledPage


@dataclass
class CrawlFrontier:
    site: str
    max_pages: int = 25
    max_depth: int = 3
    notes: list[str] = field(default_factory=list[str])
    seen: set[str] = field(default_factory=set[str])
    waiting: list[str] = field(default_factory=list[str])

    def next_urls(self) -> list[str]:
        if not self.seen:
            self.waiting.append(self.site)
            self.seen.add(self.site)
        urls, self.waiting = self.waiting[:3], self.waiting[3:]
        return urls

    def add_page(self, page: CrawledPage) -> None:
        if page.failure:
            self.notes.append(f"{page.url}: {page.failure}")
        for link in re.findall(r'href="([^"]{1,500})"', page.html)[:100]:
            url = urljoin(page.url, link)
            if urlsplit(url).netloc == urlsplit(self.site).netloc and url not in self.seen:
                self.seen.add(url)
                self.waiting.append(url)
        if len(self.seen) > self.max_pages and not any("limit" in note for note in self.notes):
            self.notes.append(f"The limit of {self.max_pages} pages was reached.")
