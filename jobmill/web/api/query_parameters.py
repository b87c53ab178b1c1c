"""Refuse query parameters that an operation does not have, instead of ignoring a misspelled one."""

from __future__ import annotations

from fastapi import Request, params
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

CREDENTIAL = "key"
"""The personal link of an applicant, which every operation accepts."""


async def refuse_unknown_parameters(request: Request) -> None:
    if not request.scope["query_string"]:
        return
    known = _find_names(request.scope["route"])
    unknown = [name for name in request.query_params if name not in known and name != CREDENTIAL]
    if unknown:
        accepted = f"it accepts {', '.join(known)}" if known else "it accepts none"
        message = f"this operation has no such query parameter; {accepted}"
        raise RequestValidationError(
            [{"loc": ("query", name), "msg": message} for name in dict.fromkeys(unknown)]
        )


def _find_names(route: APIRoute) -> tuple[str, ...]:
    fields = get_flat_params(route.dependant)
    return tuple(field.alias for field in fields if isinstance(field.field_info, params.Query))
