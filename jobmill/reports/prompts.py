"""Form the questions that candidates would ask an assistant, from what the site states."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from jobmill.catalog.company_names import display_name
from jobmill.matching.llm_review.prompt_injection import find_injection
from jobmill.plain_text import single_line
from jobmill.reports.answers import Prompt
from jobmill.reports.cited_domains import site_host
from jobmill.reports.claim_words import stem
from jobmill.reports.company_mentions import company_names
from jobmill.reports.findings import FactName, QuestionStage, SiteFindings

MAX_PROMPTS: Final = 40
_MAX_VALUE_LENGTH: Final = 60
_MAX_QUESTION_LENGTH: Final = 200
_SAME_QUESTION: Final = 0.7
"""Two prompts with this share of common words are the same question."""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    key: str
    stage: QuestionStage
    audience: str
    text: str
    """With {company}, {employers} ("bakery employers"), {in_place} (" in Leipzig") and {product}."""


_TEMPLATES: Final = (
    PromptTemplate(
        "good-employers", "discovery", "job seekers",
        "What are good {employers}{in_place} to work for?",
    ),
    PromptTemplate(
        "what-it-is-like", "consideration", "job seekers",
        "What is it like to work at {company}?",
    ),
    PromptTemplate(
        "pay-and-benefits", "evaluation", "experienced people",
        "What does {company} pay, and which benefits does it offer?",
    ),
    PromptTemplate(
        "without-experience", "discovery", "career changers",
        "Which {employers}{in_place} take on people without experience and train them?",
    ),
    PromptTemplate(
        "hiring-process", "commitment", "applicants",
        "How does the hiring process at {company} work, and how long does it take?",
    ),
    PromptTemplate(
        "flexible-hours", "consideration", "parents and carers",
        "Which {employers}{in_place} offer flexible hours or part-time work?",
    ),
    PromptTemplate(
        "compared", "evaluation", "people with several offers",
        "How does {company} compare with other {employers}{in_place}?",
    ),
    PromptTemplate(
        "product", "discovery", "people who know the field",
        "Which employers are known for {product}, and are they hiring?",
    ),
    PromptTemplate(
        "accept-offer", "commitment", "applicants",
        "I have an offer from {company}. What should I know before I accept it?",
    ),
    PromptTemplate(
        "where-people-work", "evaluation", "parents and carers",
        "Can I work from home at {company}, and how flexible are the hours?",
    ),
    PromptTemplate(
        "first-job", "consideration", "graduates and apprentices",
        "Is {company} a good place for a first job or training?",
    ),
    PromptTemplate(
        "best-paid", "evaluation", "experienced people",
        "Which {employers}{in_place} pay best?",
    ),
    PromptTemplate(
        "size-and-places", "consideration", "people who relocate",
        "How large is {company}, and where are its offices and sites?",
    ),
    PromptTemplate(
        "reputation", "discovery", "job seekers",
        "What is {company} known for as an employer?",
    ),
)  # fmt: skip
"""The most useful first; the first seven cover all stages, with and without the company's name."""


def form_prompts(findings: SiteFindings, count: int = 7) -> tuple[Prompt, ...]:
    """The first `count` prompts that make sense for this site, without near-duplicates."""
    prompts: list[Prompt] = []
    for prompt in _candidates(findings):
        if len(prompts) >= min(count, MAX_PROMPTS):
            break
        if not any(_is_same_question(prompt, other) for other in prompts):
            prompts.append(prompt)
    return tuple(prompts)


def _candidates(findings: SiteFindings) -> Iterator[Prompt]:
    values, names = _values(findings), company_names(findings)
    for template in _TEMPLATES:
        if text := _fill(template, values):
            # A product can bear the company's name.
            named = "{company}" in template.text or names.find(text) is not None
            yield Prompt(template.key, text, template.stage, template.audience, named)
    for question in findings.questions:
        text = _plain(question.question, _MAX_QUESTION_LENGTH)
        if text and not question.answer:
            digest = hashlib.sha256(question.question_id.encode(errors="replace")).hexdigest()[:8]
            yield Prompt(
                f"question-{digest}", f"About {values['company']} as an employer: {text}",
                question.stage, "applicants", names_company=True,
            )  # fmt: skip


def _values(findings: SiteFindings) -> dict[str, str]:
    field, place = _first_value(findings, "industry"), _first_value(findings, "places")
    company = _plain(display_name(findings.company), _MAX_VALUE_LENGTH)
    return {
        "company": company or site_host(findings.site) or "this company",
        "employers": f"{field[:1].lower()}{field[1:]} employers" if field else "employers",
        "in_place": f" in {place}" if place else "",
        "product": _first_value(findings, "products"),
    }


def _fill(template: PromptTemplate, values: dict[str, str]) -> str:
    """The text of a prompt; "" if the site states too little for it."""
    if "{product}" in template.text and not values["product"]:
        return ""
    # "What are good employers?" without field and place measures nothing.
    is_specific = values["in_place"] or values["employers"] != "employers"
    if "{employers}" in template.text and not is_specific:
        return ""
    return template.text.format_map(values)


def _first_value(findings: SiteFindings, name: FactName) -> str:
    values = (_plain(fact.value, _MAX_VALUE_LENGTH) for fact in findings.facts if fact.name == name)
    return next(filter(None, values), "")


def _plain(text: str, max_length: int) -> str:
    """One line of a site; "" if it is too long for a prompt or addresses models."""
    line = single_line(text[: 4 * max_length]) or ""
    return "" if len(line) > max_length or find_injection(line) else line.strip(" .,;:\"'")


def _is_same_question(first: Prompt, second: Prompt) -> bool:
    if first.key == second.key:
        return True
    words, others = question_words(first.text), question_words(second.text)
    return len(words & others) >= _SAME_QUESTION * len(words | others)


def question_words(text: str) -> frozenset[str]:
    """The stems of a question's words; also "work" and "pay", which tell prompts apart."""
    return frozenset(stem(word) for word in re.findall(r"\w+", text))
