"""The query parameters of pages, and links that change some of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self, cast
from urllib.parse import urlencode

from pydantic import AfterValidator, BaseModel, Field, model_validator


def strip_text(text: str) -> str:
    """A pydantic validator: strip the text and reject null characters."""
    if "\0" in text:
        raise ValueError("text cannot contain null characters")
    return text.strip()


ShortText = Annotated[str, Field(max_length=200), AfterValidator(strip_text)]


class PageQuery(BaseModel):
    """The query of a page; a parameter that a form sent empty counts as missing."""

    @model_validator(mode="before")
    @classmethod
    def _drop_blanks(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        fields = cast("Mapping[str, Any]", values)
        return {name: value for name, value in fields.items() if str(value).strip()}

    def url(self, path: str, **changes: object) -> str:
        """The same query for `path` with some parameters changed; None removes one."""
        values = self.model_dump(exclude_defaults=True) | changes
        query = urlencode({name: value for name, value in values.items() if value is not None})
        return f"{path}?{query}" if query else path

    def without(self, *names: str) -> Self:
        """This query with some parameters reset to their defaults."""
        return self.model_copy(
            update={name: type(self).model_fields[name].default for name in names}
        )
