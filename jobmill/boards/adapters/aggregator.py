"""Aggregators: sites that list postings of many companies through a JSON search API.

An `Aggregator` describes such an API by its URL, parameters, paging and field paths, like the config of a
custom API, and adds a function only for fields that need more than a path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from pydantic import Field, TypeAdapter

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import html_text, salary, seniority
from jobmill.extract.lenient_models import Maybe
from jobmill.outside.request import Request

from ..platform import BoardPage, Config, Platform
from .api import ApiFields, get_path, list_at, read_record, text_at, texts_at

_COUNT: TypeAdapter[int | None] = TypeAdapter(Maybe[int])


class PagedSearch(Config):
    """A list that is read page by page."""

    max_pages: Annotated[int, Field(ge=1, le=100)] = 5


class KeywordSearch(PagedSearch):
    """A search by keywords and location."""

    keywords: str = ""
    location: str = ""


DaysBack = Annotated[int, Field(ge=1, le=365)] | None
"""Only postings of the last days."""


def search_token(config: Config) -> str:
    """The name of a search: its settings that differ from the defaults."""
    return urlencode(config.model_dump(exclude_defaults=True), doseq=True) or "all"


class AggregatorFields(ApiFields):
    """The paths of a posting's fields in its record."""

    salary_text: str | None = None
    seniority: str | None = None
    tags: tuple[str, ...] = ()


def _keep(posting: Posting, record: object, config: Any) -> Posting:
    return posting


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregator:
    """The search API of an aggregator."""

    name: str
    title: str
    config: type[Config]
    url: str
    """`{page}` and config fields in lower case are replaced; API keys in upper case stay for `api_keys`."""
    params: Mapping[str, str | int]
    """A number, or the name of the value: a config field, `page` or `offset`. Empty values are left out."""
    key_params: str = ""
    """Further parameters with API keys, which must not be quoted."""
    method: Literal["GET", "POST"] = "GET"
    secret: Mapping[str, str] = field(default_factory=dict[str, str])
    items: str
    """The path of the records."""
    fields: AggregatorFields
    required: tuple[str, ...] = ()
    """Paths without which a record is not a posting; the title always is required."""
    complete: Callable[[Posting, object, Any], Posting] = _keep
    """Sets the fields that need more than a path: posting, record, config."""
    partial: bool = False
    """Whether a search shows only the beginning of the texts."""
    single: bool = False
    """Whether a response may be a single record."""
    total: str | None = None
    """The path of the number of results."""
    page_size: int = 0
    has_more: Callable[[object, int], bool] | None = None
    """Whether pages follow, by response and page number; by default, if the total is not reached."""

    def platform(self, **options: Any) -> Platform:
        """The platform that reads this API; options replace its attributes."""
        platform = Platform(
            name=self.name,
            title=self.title,
            posting_ids=PostingIds(aggregator=True),
            config=self.config,
            token=search_token,
            first_request=self.request,
            read=self.read,
            inventory=False,
        )
        return replace(platform, **options)

    def request(self, config: Config, page: int = 1) -> Request:
        values = config.model_dump() | {"page": page, "offset": (page - 1) * self.page_size}
        url = re.sub(r"\{([a-z_]+)\}", lambda name: str(values[name[1]]), self.url)
        params = {
            name: values[value] if isinstance(value, str) else value
            for name, value in self.params.items()
        }
        params = {name: value for name, value in params.items() if value not in (None, "", ())}
        context = {"page": page}
        if self.method == "POST":
            return Request(url, method="POST", json=params, secret=self.secret, context=context)
        query = "&".join(filter(None, (urlencode(params, doseq=True), self.key_params)))
        url = f"{url}?{query}" if query else url
        return Request(url, secret=self.secret, context=context)

    def read(self, body: bytes, request: Request, config: Any) -> BoardPage:
        """A page of a search, or a single posting."""
        response = lenient_models.parse_json(body)
        if self.single and (posting := self.read_record(response, config)):
            return BoardPage((posting,))
        postings, records = self.read_records(response, config)
        total = self.count(response, self.total) if self.total else None
        paged = self.page_size or self.has_more
        page = request.context.get("page", 1)
        has_next = bool(records) and self._has_more(response, page, total)
        follow = has_next and page < config.max_pages
        return BoardPage(
            postings,
            (self.request(config, page + 1),) if follow else (),
            truncated=has_next and not follow,
            total=total if paged else records,
            stubs=records - len(postings),
        )

    def read_records(self, response: object, config: Any) -> tuple[tuple[Posting, ...], int]:
        """The postings of a page and the number of its records."""
        records = list_at(response, self.items)
        postings = [posting for record in records if (posting := self.read_record(record, config))]
        if records and not postings:
            raise lenient_models.unknown_response(self.title)
        if self.partial:
            postings = [replace(posting, partial=True) for posting in postings]
        return tuple(postings), len(records)

    def read_record(self, record: object, config: Any) -> Posting | None:
        """The complete posting of a record; None where a required field is missing."""
        paths = self.fields
        posting = read_record(record, paths)
        if posting is None or not all(text_at(record, path) for path in self.required):
            return None
        tags = (html_text.single_line(tag) for path in paths.tags for tag in texts_at(record, path))
        levels = map(seniority.from_label, texts_at(record, paths.seniority))
        posting = replace(
            posting,
            location=html_text.single_line(text_at(record, paths.location)),
            locations=(),
            salary=posting.salary or salary.from_text(text_at(record, paths.salary_text)),
            seniority=next(filter(None, levels), None),
            tags=tuple(tag for tag in tags if tag),
            via=self.title,
        )
        return self.complete(posting, record, config)

    def count(self, response: object, path: str | None) -> int | None:
        return _COUNT.validate_python(get_path(response, path))

    def _has_more(self, response: object, page: int, total: int | None) -> bool:
        if self.has_more:
            return self.has_more(response, page)
        return page * self.page_size < (total or 0)
