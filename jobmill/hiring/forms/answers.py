"""Parse what an applicant answered: values by key, and a problem for each answer that does not fit."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias, cast
from urllib.parse import urlsplit

from jobmill.errors import Conflict, Invalid
from jobmill.hiring.forms.form_fields import (
    MAX_NUMBER,
    ApplicationForm,
    FieldType,
    FormField,
    Knockout,
)

AnswerValue: TypeAlias = str | int | float | bool | list[str]
RawAnswers: TypeAlias = Mapping[str, Sequence[str]]
"""Every submitted value of each field, by key."""

MAX_TEXT_LENGTHS: Mapping[FieldType, int] = {"short_text": 500, "long_text": 10_000, "phone": 40}
MAX_LINKS = 5
MAX_LINK_LENGTH = 500
NUMBER = re.compile(r"[+-]?[0-9]{1,13}([.,][0-9]{1,6})?")
PHONE = re.compile(r"\+?[0-9 ()/.\-]{4,38}[0-9]")
KNOCKOUT_MESSAGE = (
    "Thank you for your interest. With this answer to “{label}” we cannot take your application "
    "for this opening. Nothing was stored about you."
)


class InvalidAnswers(Invalid):
    """Some answers do not fit; `problems` has a message for each key."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("Check the marked answers, then send the form again.")
        self.problems = problems


class AnswerEndsApplication(Conflict):
    """A knockout answer: no application is created."""

    code = "KNOCKOUT_ANSWER"

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True, slots=True)
class FormSubmission:
    """Answers that fit a version of the form, ready to be stored with an application."""

    version: int
    answers: str
    """As JSON, so that requests can be compared."""
    files: tuple[str, ...] = ()
    """Ids of uploaded files."""
    knockouts: tuple[str, ...] = ()
    """Keys of knockout answers that the company wants to review."""


@dataclass(slots=True)
class ParsedAnswers:
    values: dict[str, AnswerValue] = field(default_factory=dict[str, AnswerValue])
    problems: dict[str, str] = field(default_factory=dict[str, str])


def make_submission(
    form: ApplicationForm,
    version: int,
    raw: RawAnswers,
    files: Mapping[str, str],
    problems: Mapping[str, str] | None = None,
) -> FormSubmission:
    """Check all answers; raises InvalidAnswers, then AnswerEndsApplication.

    `files` has the id of the uploaded file for each file field, and `problems` why a file was refused.
    """
    parsed = parse_answers(form, raw, files)
    if parsed.problems or problems:
        raise InvalidAnswers({**parsed.problems, **(problems or {})})
    knockouts = find_knockouts(form, parsed.values)
    for question, knockout in knockouts:
        if not knockout.keep_for_review:
            message = knockout.message or KNOCKOUT_MESSAGE.format(label=question.label)
            raise AnswerEndsApplication(question.key, message)
    return FormSubmission(
        version,
        json.dumps(parsed.values, sort_keys=True),
        tuple(files[question.key] for question in form.fields if question.key in files),
        tuple(question.key for question, _ in knockouts),
    )


def parse_answers(
    form: ApplicationForm, raw: RawAnswers, files: Collection[str] = ()
) -> ParsedAnswers:
    parsed = ParsedAnswers()
    for key in raw:
        if form.find_field(key) is None:
            parsed.problems[key] = "The form has no question with this key."
    for question in form.fields:
        try:
            value = (
                None
                if question.type == "file"
                else _parse_answer(question, raw.get(question.key, ()))
            )
        except Invalid as error:
            parsed.problems[question.key] = str(error)
            continue
        if value is not None:
            parsed.values[question.key] = value
        elif question.required and question.key not in files:
            parsed.problems[question.key] = _ask_for_answer(question.type)
    return parsed


def _ask_for_answer(type: FieldType) -> str:
    match type:
        case "file":
            return "Choose a PDF or Word (.docx) file."
        case "choice" | "choices" | "yes_no":
            return "Choose an answer."
        case "consent":
            return "Accept this text to apply."
        case _:
            return "Enter an answer."


def _parse_answer(question: FormField, submitted: Sequence[str]) -> AnswerValue | None:
    texts = [text.strip() for text in submitted if text.strip()]
    if not texts:
        return None
    match question.type:
        case "choices":
            return [_parse_choice(text, question.choices) for text in dict.fromkeys(texts)]
        case "links":
            return _parse_links(texts)
        case "choice":
            return _parse_choice(texts[-1], question.choices)
        case "yes_no":
            return _parse_choice(texts[-1], ("yes", "no")) == "yes"
        case "consent":
            return _parse_choice(texts[-1], ("yes", "no")) == "yes" or None
        case "number":
            return _parse_number(texts[-1])
        case _:
            return _parse_text(question.type, texts[-1])


def _parse_choice(text: str, choices: Collection[str]) -> str:
    if text not in choices:
        raise Invalid("Choose one of the answers that are listed.")
    return text


def _parse_number(text: str) -> int | float:
    if not NUMBER.fullmatch(text):
        raise Invalid("Enter a number, such as 3 or 2.5.")
    number = Decimal(text.replace(",", "."))
    if abs(number) > MAX_NUMBER:
        raise Invalid("Enter a smaller number.")
    return int(number) if number == number.to_integral_value() else float(number)


def _parse_text(type: FieldType, text: str) -> str:
    longest = MAX_TEXT_LENGTHS[type]
    text = text.replace("\r\n", "\n")
    if len(text) > longest:
        raise Invalid(f"Enter {longest:,} characters at most (this has {len(text):,}).")
    if any("\ud800" <= mark <= "\udfff" or mark == "\0" for mark in text):
        raise Invalid("Remove the characters that cannot be stored.")
    if type == "phone" and not PHONE.fullmatch(text):
        raise Invalid("Enter a phone number, such as +44 20 7946 0018.")
    return text if type == "long_text" else " ".join(text.split())


def _parse_links(texts: Sequence[str]) -> list[str]:
    links = list(dict.fromkeys(" ".join(texts).split()))
    if len(links) > MAX_LINKS:
        raise Invalid(f"Enter {MAX_LINKS} links at most.")
    return [_parse_link(link) for link in links]


def _parse_link(link: str) -> str:
    link = link if "://" in link else f"https://{link}"
    try:
        parts = urlsplit(link)
        host = parts.hostname or ""
    except ValueError:
        parts, host = None, ""
    is_web = parts is not None and parts.scheme in ("http", "https") and "." in host
    if not is_web or len(link) > MAX_LINK_LENGTH or not link.isprintable():
        raise Invalid("Enter web addresses, such as https://example.org/me, one per line.")
    return link


def find_knockouts(
    form: ApplicationForm, values: Mapping[str, AnswerValue]
) -> list[tuple[FormField, Knockout]]:
    return [
        (question, question.knockout)
        for question in form.fields
        if question.knockout
        and question.key in values
        and _is_knocked_out(question.knockout, values[question.key])
    ]


def _is_knocked_out(knockout: Knockout, value: AnswerValue) -> bool:
    if isinstance(value, bool):
        return ("yes" if value else "no") in knockout.answers
    if isinstance(value, int | float):
        below, above = knockout.below, knockout.above
        return (below is not None and value < below) or (above is not None and value > above)
    chosen = [value] if isinstance(value, str) else value
    return any(choice in knockout.answers for choice in chosen)


def raw_from_json(answers: Mapping[str, object]) -> dict[str, list[str]]:
    """The answers of an API request as a form would send them; raises InvalidAnswers."""
    raw: dict[str, list[str]] = {}
    for key, value in answers.items():
        values = cast("list[object]", value) if isinstance(value, list) else [value]
        if not all(isinstance(text, str | int | float) for text in values):
            raise InvalidAnswers({key: "Send a text, a number, true, false or a list of texts."})
        raw[key] = [_to_text(text) for text in values]
    return raw


def _to_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def format_answer(value: AnswerValue) -> str:
    """An answer as one text, for people and spreadsheets."""
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return "; ".join(value)
        case _:
            return str(value)
