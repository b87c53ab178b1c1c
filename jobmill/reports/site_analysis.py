"""The first phase of a website report: everything that the pages of a site tell, without a model."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from .bots import check_access
from .candidate_questions import answer_questions
from .findings import CrawledPage, SiteFindings
from .hostile_text import find_hostile_text
from .known_postings import KnownPosting, count_posting_shares
from .readability import measure_readability
from .site_identity import find_facts
from .site_text import read_pages, read_sentences
from .structured_data import analyze_structured_data

CPU_SECONDS = 30.0
"""Give the sandbox this much for a site: 25 large pages take about ten seconds."""


def analyze_site(
    pages: Sequence[CrawledPage],
    robots_txt: str | None,
    postings: Sequence[KnownPosting],
    *,
    site: str,
    company: str,
    read_at: dt.datetime,
    crawl_notes: Sequence[str] = (),
    llms_txt: str | None = None,
) -> SiteFindings:
    """Analyze the crawled pages; the first is the home page. `robots_txt` is None if the site has none;
    `llms_txt` is the URL of its llms.txt, if it has one. Run it in the sandbox."""
    sections = read_pages(pages)
    sentences = read_sentences(sections)
    answers = answer_questions(sentences)
    return SiteFindings(
        site=site,
        company=company,
        read_at=read_at,
        facts=find_facts(sections, sentences, answers, company=company),
        access=check_access(robots_txt, pages, site=site),
        readability=measure_readability(pages),
        structured_data=analyze_structured_data(pages, sections, postings, llms_txt),
        postings=count_posting_shares(postings),
        questions=answers,
        hostile=find_hostile_text(pages),
        crawl_notes=tuple(crawl_notes),
    )
