"""What a model is asked of a company's pages, and which of its claims the pages bear out."""

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
"""Changes whenever the instructions or the form do: answers to older ones are not used again."""
_MAX_TOKENS = 2_000
MAX_TEXT_LENGTH = 30_000
"""Letters of all pages together that a model reads."""

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
    """A model's answer, before it is checked."""

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
    """The question about a company's pages."""
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
    """All pages, each with its fair share."""
    share = MAX_TEXT_LENGTH // max(1, len(pages))
    return "\n\n".join(f"# {page.url[:300]}\n{page.title}\n{page.text[:share]}" for page in pages)


def verify_claims(claims: CompanyClaims, pages: Sequence[PageSections], model: str) -> CompanyFacts:
    """The claims whose words stand on the pages."""
    said = [_PageWords(f"{page.title}\n{page.text}") for page in pages]
    place = _verify_place(claims.headquarters_location, said)
    offices = (_verify_place(one, said) for one in claims.offices[:50])
    return CompanyFacts(
        about=_verify_sentences(claims.about, said),
        culture=_verify_sentences(claims.culture, said),
        mission=_verify_sentences(claims.mission, said),
        size=_verify(claims.size, said),
        headquarters_location=place,
        industry=_verify(claims.industry, said),
        founded=_verify_year(claims.founded, said),
        offices=tuple(dict.fromkeys(one for one in (place, *offices) if one)),
        remote_first=_verify_remote_first(claims, said),
        extracted_by=model,
    )


_WORD = re.compile(r"[^\W_]+")
_MIN_WORD_LENGTH = 4
"""Words with fewer letters say little; numbers count whatever their length."""
_MAX_FACT_LENGTH = 200
_REMOTE = re.compile(r"remote|distributed|anywhere|in[- ]person|office|home", re.IGNORECASE)


class _PageWords:
    """The words of one page."""

    def __init__(self, text: str) -> None:
        in_order = _words(text)
        self._words = frozenset(in_order)
        self._text = f" {' '.join(in_order)} "

    def contains_words_of(self, claim: str) -> bool:
        """Whether every word of a claim that means something stands on the page."""
        words = [word for word in _words(claim) if len(word) >= _MIN_WORD_LENGTH or word.isdigit()]
        return self.quotes(claim) or (bool(words) and self._words.issuperset(words))

    def quotes(self, claim: str) -> bool:
        """Whether the claim stands on the page word for word."""
        words = " ".join(_words(claim))
        return bool(words) and f" {words} " in self._text


def _words(text: str) -> list[str]:
    # A number is one word, however its thousands are set apart.
    return _WORD.findall(re.sub(r"(?<=\d)[,.\u2019'](?=\d{3}\b)", "", text).casefold())


def _verify(claim: str | None, said: Sequence[_PageWords]) -> str | None:
    claim = " ".join((claim or "").split())[:_MAX_FACT_LENGTH]
    return claim if any(page.contains_words_of(claim) for page in said) else None


def _verify_sentences(claim: str | None, said: Sequence[_PageWords]) -> str | None:
    """The sentences that stand on a page."""
    kept = [
        one
        for one in sentence_facts.split_sentences(claim or "")
        if any(page.contains_words_of(one) for page in said)
    ]
    return " ".join(" ".join(kept).split())[: site_facts.MAX_TEXT_LENGTH] or None


def _verify_place(claim: str | None, said: Sequence[_PageWords]) -> str | None:
    """The town, with as much of where it lies as the pages name."""
    town, *around = [part.strip() for part in (claim or "").split(",")][:4]
    if not any(page.quotes(town) for page in said):
        return None
    named = [part for part in around if any(page.quotes(part) for page in said)]
    return ", ".join([town, *named])[:_MAX_FACT_LENGTH]


def _verify_year(claim: str | None, said: Sequence[_PageWords]) -> str | None:
    found = re.search(r"\b(?:1[5-9]|20)\d\d\b", claim or "")
    return _verify(found[0] if found else None, said)


def _verify_remote_first(claims: CompanyClaims, said: Sequence[_PageWords]) -> bool | None:
    words = claims.remote_words or ""
    stands = _REMOTE.search(words) and any(page.quotes(words) for page in said)
    return claims.remote_first if stands else None
