"""Read submitted forms and the values in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias
from urllib.parse import parse_qs

from fastapi import Depends, Request

from jobmill.errors import Invalid
from jobmill.web.translations import say

MAX_FIELDS = 50
MAX_LONG_FORM_FIELDS = 3_000
"""A profile can have 500 skills with three fields each."""
WHOLE_NUMBER = re.compile(r"[0-9]{1,7}")

LongForm: TypeAlias = Mapping[str, Sequence[str]]
"""Every value of every field."""


async def fields(request: Request) -> Mapping[str, str]:
    """The last value of each field of a form."""
    return {name: values[-1] for name, values in (await _parse(request, MAX_FIELDS)).items()}


Fields = Annotated[Mapping[str, str], Depends(fields)]


async def read_long_form(request: Request) -> LongForm:
    """All values of each field, for forms that repeat fields."""
    return await _parse(request, MAX_LONG_FORM_FIELDS)


def last_value(form: LongForm, name: str) -> str:
    return form.get(name, ("",))[-1]


async def _parse(request: Request, max_fields: int) -> dict[str, list[str]]:
    body = await request.body()
    try:
        values = parse_qs(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=max_fields
        )
    except ValueError as error:
        raise Invalid(say("The request body is not a valid form.")) from error
    if any("\0" in value for field in values.values() for value in field):
        raise Invalid(say("Text cannot contain null characters."))
    return values


def read_whole_number(form: Mapping[str, str], name: str, message: str) -> int:
    """A whole number; Invalid with `message` if the field holds anything else."""
    typed = form.get(name, "").strip()
    if not WHOLE_NUMBER.fullmatch(typed):
        raise Invalid(message)
    return int(typed)


def read_optional_whole_number(form: Mapping[str, str], name: str, message: str) -> int | None:
    return read_whole_number(form, name, message) if form.get(name, "").strip() else None
