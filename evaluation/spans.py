"""Measure skills against the spans that annotators marked in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from evaluation.score import Score
from jobmill.matching.posting_facts import skills


def measure(lines: Iterable[dict[str, Any]], source: str) -> Score:
    """The share of our matches inside a marked span, and of knowledge spans that contain one of our
    matches."""
    cases = expected = answered = inside = matched = 0
    for line in lines:
        if line["source"] != source:
            continue
        hits = skills.find_skills(" ".join(line["tokens"]))
        knowledge = list(_spans(line["tokens"], line["tags_knowledge"]))
        marked = [*knowledge, *_spans(line["tokens"], line["tags_skill"])]
        cases += 1
        expected += len(knowledge)
        answered += len(hits)
        inside += sum(
            any(low < hit.end and hit.start < high for low, high in marked) for hit in hits
        )
        matched += sum(
            any(low < hit.end and hit.start < high for hit in hits) for low, high in knowledge
        )
    return Score(cases, expected, answered, inside, marked_found=matched)


def _spans(tokens: list[str], tags: list[str]) -> Iterator[tuple[int, int]]:
    """Start and end in the tokens joined by spaces."""
    start: int | None = None
    at = 0
    for token, tag in zip([*tokens, ""], [*tags, "O"], strict=True):
        if start is not None and tag != "I":
            yield start, at - 1
            start = None
        if tag == "B":
            start = at
        at += len(token) + 1
