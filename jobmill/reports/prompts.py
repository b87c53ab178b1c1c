"""Form the questions that candidates would ask an assistant, from what the site states."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from pydantic import BaseModel

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


class _PromptFile(BaseModel):
    prompt: list[PromptTemplate]


@cache
def _load_templates() -> list[PromptTemplate]:
    text = resources.files("jobmill.reports").joinpath("data/prompts.toml").read_text("utf-8")
    return _PromptFile.model_validate(tomllib.loads(text)).prompt


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
    for template in _load_templates():
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
