"""Ask a language model for facts about a company, and keep only claims that the pages confirm."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from jobmill.catalog.company_analyses import CompanyFacts
from jobmill.outside.model_question import ModelQuestion

from . import sentence_facts, site_facts
from .page_sections import PageSections

PROMPT_VERSION = "company-1"
"""Change it with the instructions or the answer type: cached answers to older versions are not
used."""
_MAX_TOKENS = 2_000
MAX_TEXT_LENGTH = 30_000
"""Characters of all pages together that are sent to the model."""

INSTRUCTIONS = """
You read pages of a company's own website and note what they say about the company. Use only what the
pages say, in the words of the pages: copy whole sentences, do not rephrase, translate, add or guess.
Leave a field null or empty where the pages do not say it.
- about: what the company is and does, two to six sentences.
- culture: its culture, its values and how people work there, up to six sentences.
- mission: its mission statement.
- size: how many people work there, as the pages put it.
- headquarters_location: city, region and country of its main office, as far as the pages name them.
- industry: its field, in a few words that stand on the pages.
- founded: the year, four digits.
- offices: every city in which it says that it has an office.
- remote_words: the one sentence that says that it works remotely first, or that it does not.
- remote_first: true or false by that sentence.
What the pages say of customers, partners or single vacancies is not about the company.
"""


class CompanyClaims(BaseModel):
    """The answer of the model, not verified yet."""

    about: str | None = None
    culture: str | None = None
    mission: str | None = None
    size: str | None = None
    headquarters_location: str | None = None
    industry: str | None = None
    founded: str | None = None
    offices: list[str] = Field(default_factory=list)
    remote_first: bool | None = None
    remote_words: str | None = None


def build_question(
    pages: Sequence[PageSections], tier: Literal["cheap", "strong"], *, item: int, run: str
) -> ModelQuestion[CompanyClaims]:
    """The question to the model about the pages of a company."""
    return ModelQuestion(
        tier=tier,
        purpose="company",
        instructions=INSTRUCTIONS,
        text=_join_pages(pages),
        answer_type=CompanyClaims,
        prompt_version=PROMPT_VERSION,
        max_tokens=_MAX_TOKENS,
        item=item,
        run=run,
    )


def _join_pages(pages: Sequence[PageSections]) -> str:
    """The text of all pages, each cut to the same share of the limit."""
    share = MAX_TEXT_LENGTH // max(1, len(pages))
    return "\n\n".join(f"# {page.url[:300]}\n{page.title}\n{page.text[:share]}" for page in pages)


def verify_claims(claims: CompanyClaims, pages: Sequence[PageSections], model: str) -> CompanyFacts:
    """The claims that the pages confirm by their words."""
    page_words = [_PageWords(f"{page.title}\n{page.text}") for page in pages]
    place = _verify_place(claims.headquarters_location, page_words)
    offices = (_verify_place(office, page_words) for office in claims.offices[:50])
    return CompanyFacts(
        about=_verify_sentences(claims.about, page_words),
        culture=_verify_sentences(claims.culture, page_words),
        mission=_verify_sentences(claims.mission, page_words),
        size=_verify(claims.size, page_words),
        headquarters_location=place,
        industry=_verify(claims.industry, page_words),
        founded=_verify_year(claims.founded, page_words),
        offices=tuple(dict.fromkeys(office for office in (place, *offices) if office)),
        remote_first=_verify_remote_first(claims, page_words),
        extracted_by=model,
    )


_WORD = re.compile(r"[^\W_]+")
_MIN_WORD_LENGTH = 4
"""Shorter words are ignored when a claim is compared; numbers always count."""
_MAX_FACT_LENGTH = 200
_REMOTE = re.compile(r"remote|distributed|anywhere|in[- ]person|office|home", re.IGNORECASE)


class _PageWords:
    """The words of one page, for checking claims."""

    def __init__(self, text: str) -> None:
        in_order = _words(text)
        self._words = frozenset(in_order)
        self._text = f" {' '.join(in_order)} "

    def contains_words_of(self, claim: str) -> bool:
        """Whether every significant word of a claim is on the page."""
        words = [word for word in _words(claim) if len(word) >= _MIN_WORD_LENGTH or word.isdigit()]
        return self.quotes(claim) or (bool(words) and self._words.issuperset(words))

    def quotes(self, claim: str) -> bool:
        """Whether the page contains the claim word for word."""
        words = " ".join(_words(claim))
        return bool(words) and f" {words} " in self._text


def _words(text: str) -> list[str]:
    # A number is one word even if its thousands are separated.
    return _WORD.findall(re.sub(r"(?<=\d)[,.\u2019'](?=\d{3}\b)", "", text).casefold())


def _verify(claim: str | None, page_words: Sequence[_PageWords]) -> str | None:
    claim = " ".join((claim or "").split())[:_MAX_FACT_LENGTH]
    return claim if any(page.contains_words_of(claim) for page in page_words) else None


def _verify_sentences(claim: str | None, page_words: Sequence[_PageWords]) -> str | None:
    """The sentences of a claim that are on a page."""
    verified = [
        sentence
        for sentence in sentence_facts.split_sentences(claim or "")
        if any(page.contains_words_of(sentence) for page in page_words)
    ]
    return " ".join(" ".join(verified).split())[: site_facts.MAX_TEXT_LENGTH] or None


def _verify_place(claim: str | None, page_words: Sequence[_PageWords]) -> str | None:
    """The city, with the region and country that the pages also name."""
    city, *around = [part.strip() for part in (claim or "").split(",")][:4]
    if not any(page.quotes(city) for page in page_words):
        return None
    verified = [part for part in around if any(page.quotes(part) for page in page_words)]
    return ", ".join([city, *verified])[:_MAX_FACT_LENGTH]


def _verify_year(claim: str | None, page_words: Sequence[_PageWords]) -> str | None:
    match = re.search(r"\b(?:1[5-9]|20)\d\d\b", claim or "")
    return _verify(match[0] if match else None, page_words)


def _verify_remote_first(claims: CompanyClaims, page_words: Sequence[_PageWords]) -> bool | None:
    words = claims.remote_words or ""
    is_quoted = _REMOTE.search(words) and any(page.quotes(words) for page in page_words)
    return claims.remote_first if is_quoted else None
