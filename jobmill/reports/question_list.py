"""The questions that candidates ask about an employer, and how their answers read."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pydantic import BaseModel

from .findings import QuestionStage

_PARTS = {
    # Bounded, so that patterns stay linear on long sentences.
    "<gap>": r"[^.!?]{0,60}?",
    "<amount>": r"(?:(?:[$€£₹]|USD|EUR|GBP|CAD|CHF|INR)\s?\d[\d,.]{0,15}\s?k?"
    r"|\d[\d,.]{0,15}\s?k?\s?(?:€|EUR|USD|GBP|CHF|PLN|SEK))",
}


@dataclass(frozen=True, slots=True)
class CandidateQuestion:
    id: str
    stage: QuestionStage
    text: str
    sentence: re.Pattern[str]
    """A sentence that answers it, or a list item that does so on its own."""
    heading: re.Pattern[str] | None
    """A heading below which the answer stands."""
    unless: re.Pattern[str] | None
    """A sentence with these words is about something else."""
    min_items: int
    """Items of a list below the heading that are an answer without a sentence; 1 if none are."""


class _QuestionEntry(BaseModel):
    id: str
    stage: QuestionStage
    text: str
    sentence: list[str]
    heading: list[str] = []
    unless: list[str] = []
    min_items: int = 1


class _QuestionFile(BaseModel):
    question: list[_QuestionEntry]


@cache
def load_questions() -> tuple[CandidateQuestion, ...]:
    """All questions, by stage."""
    text = resources.files("jobmill.reports").joinpath("data/questions.toml").read_text("utf-8")
    return tuple(
        CandidateQuestion(
            entry.id,
            entry.stage,
            entry.text,
            _compile("|".join(entry.sentence)),
            _compile(rf"^(?:{'|'.join(entry.heading)})$") if entry.heading else None,
            _compile(rf"\b(?:{'|'.join(entry.unless)})\b") if entry.unless else None,
            entry.min_items,
        )
        for entry in _QuestionFile.model_validate(tomllib.loads(text)).question
    )


def _compile(pattern: str) -> re.Pattern[str]:
    for name, part in _PARTS.items():
        pattern = pattern.replace(name, part)
    return re.compile(pattern, re.IGNORECASE)
