"""Query parameters that many lists have."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BeforeValidator

from jobmill.web.api.pagination import LIMIT_TEXT
from jobmill.web.page_query import ShortText
from jobmill.web.parameters import require_digits

Words = Annotated[ShortText | None, Query(description="Words to search for.")]
ProfileParameter = Annotated[
    ShortText | None, Query(description="The name of a profile. Default: the default profile.")
]
RowLimit = Annotated[
    int, Query(ge=1, le=100, description=LIMIT_TEXT), BeforeValidator(require_digits)
]
