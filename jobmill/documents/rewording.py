"""Let a model reword lines for one posting, and keep only rewordings that claim no more than the fact."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from pydantic import BaseModel, ConfigDict

from jobmill.catalog.posting import Posting
from jobmill.matching.llm_review.claim_checks import normalize_signs, on_one_line
from jobmill.matching.posting_facts import experience_years, skills
from jobmill.outside.model_question import ModelQuestion

from .document import ApplicationDocument, DocumentLine, iter_lines, map_lines

PROMPT_VERSION = "1"
MAX_TOKENS = 3_000
MAX_LINES = 40
MAX_POSTING_LENGTH = 6_000
MAX_LINES_LENGTH = 8_000
"""Characters of the person's lines that are sent."""
REWORDED = re.compile(
    r"^summary$|\.(?:highlights\.\d+|summary)$|^(?:highlights|projects|achievements)\.\d+$"
)
"""Lines of prose. Names, dates, skills and contact details are never sent."""

INSTRUCTIONS = """\
You reword lines of a resume so that they answer a job posting. The document has two parts: LINES, each
after its key in square brackets, then, from the line "=== POSTING ===" to its very end, POSTING.

Return the lines that get better: shorter, the relevant part first, active voice. Use only the words of the
line itself; you may reorder them, leave some out and change their grammatical form. Keep every number next
to the word it counts. Add no fact, skill, number, name, result or degree of certainty: each rewording is
compared with its line, and dropped if it says more."""

WORD = re.compile(r"[^\W\d_][\w'+#/-]*")
TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_][\w'+#]*")
ENDING = re.compile(r"(?<=\w{3})(?:'s|ing|ers?|ed|e?s|e|ly|ions?|ment)$")
NUMBER_WORDS = frozenset(word for word, number in experience_years.WORDS.items() if number > 1) | {
    "dozen",
    "double",
    "hundred",
    "million",
    "thousand",
    "twice",
}
NEAR = 3
"""Content words beside a number that it may count."""
_FREE_WORDS = """
    a an and as at both by each every for from in into its of on or our per that the their them
    this those through to was were which while who with within also when where after before
    during
"""
FREE_WORDS = frozenset(_FREE_WORDS.split())
"""Words of grammar. A rewording may add no others."""
_LIMITING = """
    about almost approximately around assist assisted assisting attempted basic co contributed
    contributing expected few helped helping intern junior learned learning limited mostly
    nearly never no none not observed only part partial participated partly planned proposed
    roughly shadowed some studied supported supporting supervised trainee tried under up
    volunteer volunteered without
"""
LIMITING = frozenset(_LIMITING.split())
"""Words that make a claim smaller. A rewording must keep them."""


class RewordedLine(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    key: str
    """The key of the line, without the brackets."""
    text: str
    """The line, reworded."""


class RewordingAnswer(BaseModel):
    lines: list[RewordedLine]


@dataclass(frozen=True, slots=True)
class CheckedRewording:
    texts: dict[str, str]
    """Rewordings that claim no more than their line, by its key."""
    dropped: tuple[str, ...]


def lines_to_send(document: ApplicationDocument) -> list[DocumentLine]:
    """Printed lines of prose in the person's own profile; edited lines stay as they are."""
    lines = [
        line
        for line in iter_lines(document)
        if line.enabled and line.wording == "profile" and line.fact and REWORDED.search(line.key)
    ]
    sent: list[DocumentLine] = []
    length = 0
    for line in lines[:MAX_LINES]:
        length += len(line.fact)
        if length > MAX_LINES_LENGTH:
            break
        sent.append(line)
    return sent


def build_question(
    document: ApplicationDocument,
    posting: Posting,
    *,
    item: int | None = None,
    run: str | None = None,
    person_id: int | None = None,
) -> ModelQuestion[RewordingAnswer]:
    """The question; its text is everything that is sent about the person."""
    lines = "\n".join(f"[{line.key}] {line.fact}" for line in lines_to_send(document))
    text = (posting.description or posting.requirements or "")[:MAX_POSTING_LENGTH]
    return ModelQuestion(
        tier="strong",
        purpose="document",
        instructions=INSTRUCTIONS,
        text=f"=== LINES ===\n{lines}\n\n=== POSTING ===\nTitle: {posting.title}\n{text}",
        answer_type=RewordingAnswer,
        prompt_version=PROMPT_VERSION,
        max_tokens=MAX_TOKENS,
        item=item,
        run=run,
        person_id=person_id,
    )


def check_answer(document: ApplicationDocument, answer: RewordingAnswer) -> CheckedRewording:
    """Compare every rewording with the fact of its line."""
    facts = {line.key: line.fact for line in lines_to_send(document)}
    texts: dict[str, str] = {}
    dropped: list[str] = []
    for line in answer.lines[: 2 * MAX_LINES]:
        text = on_one_line(line.text)
        fact = facts.get(line.key.strip("[] "))
        if fact is None or not is_supported(text, fact):
            dropped.append(on_one_line(f"{line.key}: {text}", 200))
        elif text != fact:
            texts[line.key.strip("[] ")] = text
    return CheckedRewording(texts, tuple(dropped))


def apply_rewording(
    document: ApplicationDocument, checked: CheckedRewording, model: str
) -> ApplicationDocument:
    """The document with the kept rewordings. Lines that the person edited meanwhile stay."""

    def reworded(line: DocumentLine) -> DocumentLine:
        text = checked.texts.get(line.key)
        if text is None or line.wording == "own" or not is_supported(text, line.fact):
            return line
        ends = "." if line.text.endswith(".") and not text.endswith(".") else ""
        return line.model_copy(update={"text": text + ends, "wording": "model"})

    changed = map_lines(document, reworded)
    return changed.model_copy(update={"model": model, "dropped": checked.dropped})


def is_supported(text: str, fact: str) -> bool:
    """Whether a text says nothing that the fact does not say: no other skills, numbers, names or words,
    each number beside the word it counts, and no claim made larger."""
    if not text:
        return False
    text, fact = normalize_signs(text), normalize_signs(fact)
    return (
        _skills_within(text, fact)
        and _words_within(text, fact)
        and _numbers_in_place(text, fact)
        and not Counter(_numbers(text)) - Counter(_numbers(fact))
        and _limits(fact) <= _limits(text)
        and _signs(text) <= _signs(fact)
    )


def _skills_within(text: str, fact: str) -> bool:
    return set(skills.skill_names(text)) <= set(skills.skill_names(fact))


def _words_within(text: str, fact: str) -> bool:
    known = {_stem(word) for word in _words(fact)}
    return all(word.casefold() in FREE_WORDS or _stem(word) in known for word in _words(text))


def _words(text: str) -> list[str]:
    return [part for word in WORD.findall(text) for part in re.split("[-/]", word) if part]


def _numbers(text: str) -> list[str]:
    return [token.casefold() for token in TOKEN.findall(text) if _is_number(token)]


def _is_number(token: str) -> bool:
    return token[0].isdigit() or token.casefold() in NUMBER_WORDS


def _numbers_in_place(text: str, fact: str) -> bool:
    """Whether each number stands beside a word that stands near it in the fact, on the same side."""
    near = list(_neighbours(fact))
    return all(
        any(
            number == other
            and (after[0] in fact_after if after else not before or before[0] in fact_before)
            for other, fact_before, fact_after in near
        )
        for number, before, after in _neighbours(text)
    )


def _neighbours(text: str) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Each number with up to three content words before and after it, the nearest first."""
    tokens = [token.casefold() for token in TOKEN.findall(text)]
    tokens = [token for token in tokens if token not in FREE_WORDS]
    for place, token in enumerate(tokens):
        if _is_number(token):
            yield token, _until_number(tokens[:place][::-1]), _until_number(tokens[place + 1 :])


def _until_number(tokens: Sequence[str]) -> tuple[str, ...]:
    words = takewhile(lambda token: not _is_number(token), tokens[:NEAR])
    return tuple(map(_stem, words))


def _limits(text: str) -> set[str]:
    return {word.casefold() for word in _words(text)} & LIMITING


def _signs(text: str) -> set[str]:
    """Signs that change what a number means."""
    return {sign for sign in text if sign in "%$€£¥+<>~≥≤±\u00d7"}


def _stem(word: str) -> str:
    return ENDING.sub("", word.casefold())
