"""What a form on a page sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request

from jobmill.errors import Invalid

MOST = 50


async def fields(request: Request) -> Mapping[str, str]:
    """The fields by their names; what was not sent is empty."""
    body = await request.body()
    try:
        found = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST
        )
    except ValueError as error:
        raise Invalid("This is not what a form sends.") from error
    if any("\0" in value for _, value in found):
        raise Invalid("A text cannot hold null characters.")
    return dict(found)


Fields = Annotated[Mapping[str, str], Depends(fields)]
