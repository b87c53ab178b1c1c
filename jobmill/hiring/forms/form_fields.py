"""The questions of an application form, as the API, the command line and the database write them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from jobmill.errors import Invalid
from jobmill.plain_text import remove_invisible

FieldType = Literal[
    "short_text",
    "long_text",
    "choice",
    "choices",
    "number",
    "yes_no",
    "phone",
    "links",
    "file",
    "consent",
]
WITH_CHOICES: Collection[FieldType] = ("choice", "choices")
WITH_KNOCKOUT: Collection[FieldType] = ("choice", "choices", "number", "yes_no")

MAX_FIELDS = 30
MAX_FILE_FIELDS = 3
MAX_CHOICES = 50
MAX_LABEL_LENGTH = 300
MAX_HELP_LENGTH = 10_000
"""Also the length of a consent text."""
MAX_NUMBER = 10**12
KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")

Label = Annotated[str, Field(min_length=1, max_length=MAX_LABEL_LENGTH, examples=["CV"])]
Choice = Annotated[str, Field(min_length=1, max_length=200)]
Limit = Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER, allow_inf_nan=False)]


class FormModel(BaseModel):
    # A misspelt name must not silently drop a rule.
    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
    )


class Knockout(FormModel):
    """Answers that end the application before it takes a place."""

    answers: Annotated[tuple[Choice, ...], Field(max_length=MAX_CHOICES)] = ()
    """Choices, or `yes` or `no`."""
    below: Limit | None = None
    """For numbers: an answer below this ends the application."""
    above: Limit | None = None
    message: Annotated[str, Field(max_length=2_000)] = ""
    """What the applicant reads; empty: a friendly default."""
    keep_for_review: bool = False
    """Take the application anyway and mark the answer for the company."""

    @property
    def has_condition(self) -> bool:
        return bool(self.answers) or self.below is not None or self.above is not None


class FormField(FormModel):
    key: Annotated[str, Field(max_length=40, examples=["cv"])] = ""
    """Names the answer in the API and stays the same in later versions; empty: made from the label."""
    type: Annotated[FieldType, Field(examples=["file"])]
    label: Label
    help: Annotated[str, Field(max_length=MAX_HELP_LENGTH)] = ""
    """Shown under the label; of a consent, the text to accept."""
    required: bool = False
    choices: Annotated[tuple[Choice, ...], Field(max_length=MAX_CHOICES)] = ()
    knockout: Knockout | None = None

    @field_validator("label", "help", "choices", mode="after")
    @classmethod
    def _clean(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        texts = (value,) if isinstance(value, str) else value
        if any(remove_invisible(text) != text for text in texts):
            raise PydanticCustomError("text", "should have no invisible characters")
        return value

    @model_validator(mode="after")
    def _check(self) -> Self:
        problem = _find_field_problem(self)
        if problem:
            raise PydanticCustomError("field", "{problem}", {"problem": problem})
        return self


def _find_field_problem(field: FormField) -> str:
    choices, knockout = field.choices, field.knockout
    if field.key and not KEY.fullmatch(field.key):
        return "the key should be lower-case letters, digits and _, such as first_shift"
    if field.type in WITH_CHOICES and len(choices) < 2:
        return "enter at least two choices"
    if choices and field.type not in WITH_CHOICES:
        return "only a choice question has choices"
    if len(set(choices)) < len(choices):
        return "each choice should be different"
    return _find_knockout_problem(field, knockout) if knockout else ""


def _find_knockout_problem(field: FormField, knockout: Knockout) -> str:
    if field.type not in WITH_KNOCKOUT:
        return "only choice, number and yes/no questions can end an application"
    if not knockout.has_condition:
        return "say which answer ends the application"
    if field.type != "number" and (knockout.below is not None or knockout.above is not None):
        return "only a number can be below or above a limit"
    allowed = ("yes", "no") if field.type == "yes_no" else field.choices
    if not set(knockout.answers) <= set(allowed):
        return "an answer that ends the application should be one of the choices"
    if allowed and set(knockout.answers) == set(allowed):
        return "leave at least one answer that does not end the application"
    return ""


class ApplicationForm(FormModel):
    """What an opening asks besides the name and the address, in order."""

    fields: Annotated[tuple[FormField, ...], Field(max_length=MAX_FIELDS)] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        keys = [field.key for field in self.fields if field.key]
        if len(set(keys)) < len(keys):
            raise PydanticCustomError("form", "each key should be used once")
        if sum(field.type == "file" for field in self.fields) > MAX_FILE_FIELDS:
            raise PydanticCustomError(
                "form", "a form can ask for {n} files at most", {"n": MAX_FILE_FIELDS}
            )
        return self

    @property
    def has_required_field(self) -> bool:
        return any(field.required for field in self.fields)

    @property
    def asks_for_files(self) -> bool:
        return any(field.type == "file" for field in self.fields)

    def list_fields(self) -> list[dict[str, Any]]:
        """The fields as JSON values, without defaults."""
        return [
            field.model_dump(mode="json", by_alias=True, exclude_defaults=True)
            for field in self.fields
        ]

    def find_field(self, key: str) -> FormField | None:
        return next((field for field in self.fields if field.key == key), None)


EMPTY_FORM = ApplicationForm()


def parse_form(data: object) -> ApplicationForm:
    """A form from decoded JSON; raises Invalid that names each wrong question."""
    try:
        return ApplicationForm.model_validate(data)
    except ValidationError as error:
        problems = [
            f"{_name_place(problem['loc'])}{_describe(problem['type'], problem['msg'])}"
            for problem in error.errors(include_url=False, include_input=False)[:10]
        ]
        raise Invalid("; ".join(problems) + ".") from None


def _describe(type: str, message: str) -> str:
    match type:
        case "string_too_short":
            return "enter a text"
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a property of a question"
        case _:
            return message[:1].lower() + message[1:]


def parse_form_file(text: str) -> tuple[ApplicationForm, int | None]:
    """The form of a JSON file, and the version that it is based on, if the file names it."""
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"The file is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise Invalid("The file should be a JSON object with `fields`.")
    form = cast("dict[str, Any]", data)
    version = form.pop("version", None)
    return parse_form(form), version if isinstance(version, int) else None


def _name_place(location: Sequence[int | str]) -> str:
    """`Question 2, label: ` for `("fields", 1, "label")`."""
    if len(location) < 2 or location[0] != "fields":
        return "".join(f"{part}: " for part in location)
    rest = [str(part) for part in location[2:]]
    return ", ".join([f"Question {int(location[1]) + 1}", *rest]) + ": "


def add_keys(
    form: ApplicationForm, current: ApplicationForm, used: Collection[str]
) -> ApplicationForm:
    """Give each field without a key the one of the same question in the current version, or a new one.

    A new key is none of those that any version has `used`.
    """
    keys = {(field.type, field.label): field.key for field in current.fields}
    named = {field.key for field in form.fields}
    taken = {*used, *named}
    fields: list[FormField] = []
    for field in form.fields:
        same = keys.pop((field.type, field.label), "")
        key = field.key or (same if same not in named else "") or _make_key(field.label, taken)
        taken.add(key)
        fields.append(field.model_copy(update={"key": key}))
    return ApplicationForm(fields=tuple(fields))


def _make_key(label: str, taken: Collection[str]) -> str:
    words = re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_")
    stem = (words if words[:1].isalpha() else f"q_{words}".rstrip("_"))[:34]
    numbers = iter(range(2, 10_000))
    key = stem
    while key in taken:
        key = f"{stem}_{next(numbers)}"
    return key
