"""The questions of an application form as rows of an editor that needs no scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, get_args

from jobmill.errors import Invalid
from jobmill.hiring.forms.form_fields import (
    MAX_FIELDS,
    WITH_CHOICES,
    WITH_KNOCKOUT,
    ApplicationForm,
    FieldType,
    FormField,
    Knockout,
    parse_form,
)
from jobmill.web.form import LongForm
from jobmill.web.translations import say

TYPES: Sequence[FieldType] = get_args(FieldType)


def type_names() -> Mapping[FieldType, str]:
    return {
        "file": say("Resume or other file"),
        "phone": say("Phone number"),
        "links": say("Links"),
        "short_text": say("Short text"),
        "long_text": say("Long text"),
        "yes_no": say("Yes or no"),
        "choice": say("One choice"),
        "choices": say("Several choices"),
        "number": say("Number"),
        "consent": say("Consent"),
    }


@dataclass(frozen=True, slots=True)
class FormRow:
    """One question as its fields in the editor hold it."""

    type: FieldType
    key: str = ""
    label: str = ""
    help: str = ""
    required: bool = False
    choices: str = ""
    """One per line."""
    ends: str = ""
    """Answers that end the application, one per line."""
    below: str = ""
    above: str = ""
    message: str = ""
    keep: bool = False

    @property
    def has_choices(self) -> bool:
        return self.type in WITH_CHOICES

    @property
    def can_have_knockout(self) -> bool:
        return self.type in WITH_KNOCKOUT

    @property
    def has_knockout(self) -> bool:
        return bool(self.ends or self.below or self.above)

    def to_json(self) -> dict[str, Any]:
        """The question as the API writes it."""
        question: dict[str, Any] = {
            "key": self.key,
            "type": self.type,
            "label": " ".join(self.label.split()),
            "help": self.help.replace("\r\n", "\n").strip(),
            "required": self.required,
        }
        if self.has_choices:
            question["choices"] = _lines(self.choices)
        if self.can_have_knockout and self.has_knockout:
            question["knockout"] = {
                "answers": _lines(self.ends),
                "below": _parse_limit(self.below),
                "above": _parse_limit(self.above),
                "message": self.message.strip(),
                "keepForReview": self.keep,
            }
        return question


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _parse_limit(text: str) -> float | None:
    try:
        return float(text.replace(",", ".")) if text.strip() else None
    except ValueError:
        raise Invalid(
            say("The limit must be a number, such as 2 (got “%(limit)s”).", limit=text)
        ) from None


def to_row(field: FormField) -> FormRow:
    knockout = field.knockout or Knockout()
    return FormRow(
        field.type,
        field.key,
        field.label,
        field.help,
        field.required,
        "\n".join(field.choices),
        "\n".join(knockout.answers),
        _format_limit(knockout.below),
        _format_limit(knockout.above),
        knockout.message,
        knockout.keep_for_review,
    )


def _format_limit(limit: float | None) -> str:
    """The exact number, without an exponent, as the company typed it."""
    if limit is None:
        return ""
    return format(Decimal(repr(limit)), "f").removesuffix(".0")


def to_form(rows: Sequence[FormRow]) -> ApplicationForm:
    """The form of the rows; raises Invalid."""
    return parse_form({"fields": [row.to_json() for row in rows]})


def read_rows(form: LongForm) -> list[FormRow]:
    """The rows of a submitted editor, in order."""
    rows: list[FormRow] = []
    for index in range(MAX_FIELDS + 1):
        type = _find_type(_get(form, "type", index))
        if type:
            texts = ("key", "label", "help", "choices", "ends", "below", "above", "message")
            values = {name: _get(form, name, index) for name in texts}
            required, keep = _get(form, "required", index), _get(form, "keep", index)
            rows.append(FormRow(type, **values, required=required == "yes", keep=keep == "yes"))
    return rows


def _get(form: LongForm, name: str, index: int) -> str:
    return (form.get(f"{name}-{index}") or [""])[-1]


def _find_type(text: str) -> FieldType | None:
    return next((type for type in TYPES if type == text), None)


def change_rows(rows: list[FormRow], action: str, added: str) -> list[FormRow]:
    """Add, move or remove a row: `add`, `up-2`, `down-2` or `remove-2`."""
    verb, _, number = action.partition("-")
    index = next((index for index in range(len(rows)) if str(index) == number), None)
    type = _find_type(added)
    if verb == "add" and type and len(rows) < MAX_FIELDS:
        return [*rows, make_row(type, rows)]
    if index is None:
        return rows
    row, rest = rows[index], rows[:index] + rows[index + 1 :]
    if verb == "remove":
        return rest
    place = {"up": max(index - 1, 0), "down": index + 1}.get(verb, index)
    return [*rest[:place], row, *rest[place:]]


def make_row(type: FieldType, rows: Sequence[FormRow]) -> FormRow:
    """A new question with a label that most companies would write."""
    labels: Mapping[str, str] = {
        "file": say("Resume"),
        "phone": say("Phone number"),
        "links": say("Links to your work or profile"),
        "consent": say("Privacy"),
    }
    label = labels.get(type, "")
    return FormRow(
        type,
        label="" if any(row.label == label for row in rows) else label,
        required=type in ("file", "consent"),
    )
