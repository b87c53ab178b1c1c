"""The pages of a site as sentences, each with the headings above it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from jobmill.catalog.company_pages import CompanyPage
from jobmill.extract.company import page_sections, sentence_facts
from jobmill.extract.company.page_sections import PageBlock, PageSections

from .findings import CrawledPage, Evidence

MAX_PAGE_LENGTH = 2_000_000
"""Characters of a page that are parsed."""
MAX_QUOTE = 400
_MAX_SENTENCE = 1_000
_MAX_SENTENCES = 10_000
_MIN_WORDS = 5
_MAX_ITEM = 120
_BULLET = re.compile(r"^[\s•·▪●*\u2013\u2014-]+")
_ENDS = frozenset(".!…")
_NOISE = re.compile(
    r"\bcookies?\b|javascript|your browser|newsletter|rights reserved|©|lorem ipsum|captcha",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SiteSentence:
    text: str
    url: str
    headings: tuple[str, ...]
    """The headings above it, the nearest last."""
    is_statement: bool
    """A sentence, and not a label or an item of a list."""

    @property
    def evidence(self) -> Evidence:
        return Evidence(quote_text(self.text), self.url)


def quote_text(text: str) -> str:
    """The text in one line, cut at a word if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= MAX_QUOTE else text[:MAX_QUOTE].rpartition(" ")[0] + " …"


def read_pages(pages: Iterable[CrawledPage]) -> list[PageSections]:
    """The sections of each page with content: as a browser shows it, if one was used."""
    return [
        page_sections.read_sections(CompanyPage(page.url, content[:MAX_PAGE_LENGTH]))
        for page in pages
        if page.status is not None
        and page.status < 400
        and (content := page.rendered_html or page.html)
    ]


def read_sentences(pages: Iterable[PageSections]) -> list[SiteSentence]:
    """The sentences and list items in the content of the pages, without menus, links and repetitions."""
    sentences: dict[str, SiteSentence] = {}
    for page in pages:
        for block in page.blocks:
            if block.in_frame or block.is_link or block.level or _NOISE.search(block.text[:2_000]):
                continue
            for sentence in _split(block, page.url):
                sentences.setdefault(sentence.text, sentence)
                if len(sentences) >= _MAX_SENTENCES:
                    return list(sentences.values())
    return list(sentences.values())


def _split(block: PageBlock, url: str) -> list[SiteSentence]:
    return [
        SiteSentence(text, url, block.headings, _is_statement(text))
        for part in sentence_facts.split_sentences(block.text)
        if len(text := _BULLET.sub("", part[:_MAX_SENTENCE]).strip()) > 1
    ]


def _is_statement(text: str) -> bool:
    """Whether a text has the length and the end of a sentence; a question states nothing."""
    if text.count(" ") < _MIN_WORDS - 1 or text.endswith("?"):
        return False
    return text[-1] in _ENDS or len(text) > _MAX_ITEM or text.count(" ") >= 7
