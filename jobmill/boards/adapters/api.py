"""Custom APIs: any API that lists postings as JSON, described by its URL and the paths of its fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self, cast
from urllib.parse import quote, urldefrag, urlencode, urlsplit

from pydantic import AfterValidator, Field, field_validator, model_validator

from jobmill.catalog.posting import Arrangement, Posting
from jobmill.errors import OutsideError
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary, work_arrangement
from jobmill.extract.page.text_checks import absolute_url
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardPage, Config, Platform

# A user with the right to add sources must not be able to send other secrets of the environment to
# a site.
_KEY_NAME = re.compile(
    r"(?!JOBMILL_|AWS_|OPENAI_|ANTHROPIC_|GITHUB_)[A-Z][A-Z0-9_]*_API_(KEY|TOKEN)"
)
_FORBIDDEN_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization", "host"})


def _check_key_name(name: str) -> str:
    if not _KEY_NAME.fullmatch(name):
        raise ValueError(
            "use a separate variable with a name that ends with _API_KEY or _API_TOKEN"
        )
    return name


class ApiEndpoints(Config):
    search: str = ""
    details: str | None = None
    """The path of a single posting, with {id} in it."""


class ApiFields(Config):
    """The dotted paths of a posting's fields in its record."""

    id: str = "id"
    title: str = "title"
    url: str = "url"
    company: str = "company"
    location: str = "location"
    description: str = "description"
    posted_at: str = "posted_at"
    updated_at: str | None = None
    valid_through: str | None = None
    employment_type: str | None = None
    department: str | None = None
    remote: str | None = None
    salary_min: str | None = None
    salary_max: str | None = None
    salary_currency: str | None = None
    salary_period: str | None = None
    apply_url: str | None = None


class ApiPaging(Config):
    """How further pages are requested: by number, by offset, or by the URL that a response names."""

    by: Literal["page", "offset", "next"]
    param: str = "page"
    start: int = 1
    size: Annotated[int, Field(ge=1)] = 100
    """The number of records of a full page; a page with fewer is the last."""
    next: str = "next"
    """The path of the URL of the next page, for `by: next`."""
    max_pages: Annotated[int, Field(ge=1, le=200)] = 10


class ApiConfig(Config):
    base_url: Annotated[str, Field(pattern=r"^https://[^/\s]+")]
    auth_type: Literal["none", "api_key", "bearer", "basic", "query"] = "none"
    api_key_env: Annotated[str, AfterValidator(_check_key_name)] | None = None
    """The environment variable that holds the key; for `basic`, a key or user:password."""
    api_key_name: str | None = None
    """The header (`api_key`) or parameter (`query`) that carries the key."""
    endpoints: ApiEndpoints = ApiEndpoints()
    headers: dict[str, str] = Field(default_factory=dict)
    params: dict[str, str | int | float | bool] = Field(default_factory=dict)
    items: str | None = None
    """The path of the records; without it, the response itself or its only list."""
    fields: ApiFields = ApiFields()
    paging: ApiPaging | None = None

    @field_validator("auth_type", mode="before")
    @classmethod
    def _no_oauth(cls, value: object) -> object:
        if isinstance(value, str) and "oauth" in value.lower():
            raise ValueError("OAuth is not supported: write an adapter for this API")
        return value

    @field_validator("headers")
    @classmethod
    def _no_secrets(cls, headers: dict[str, str]) -> dict[str, str]:
        for name in headers:
            if name.lower() in _FORBIDDEN_HEADERS:
                raise ValueError(
                    f"{name} is not set here: put the key into a variable, api_key_env"
                )
        return headers

    @model_validator(mode="after")
    def _has_key(self) -> Self:
        if (self.auth_type == "none") != (self.api_key_env is None):
            raise ValueError("set both auth_type and api_key_env, or neither")
        return self


def first_request(config: ApiConfig) -> Request:
    start = config.paging.start if config.paging and config.paging.by != "next" else None
    return _search_request(config, 1, start)


def _search_request(config: ApiConfig, page: int, position: int | None) -> Request:
    """The request for a page; `position` is the number or offset that its URL states."""
    params = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in config.params.items()
    }
    if config.paging and position is not None:
        params[config.paging.param] = position
    return _request(config, config.endpoints.search, params, page, position)


def _request(
    config: ApiConfig, path: str, params: Mapping[str, object], page: int, position: int | None
) -> Request:
    url = config.base_url.rstrip("/") + (
        "/" + quote(path.lstrip("/"), safe="/?=&%,:;") if path else ""
    )
    if params:
        url += ("&" if "?" in url else "?") + urlencode(params)
    return _add_key_name(Request(url, context={"page": page, "value": position}), config)


def _add_key_name(request: Request, config: ApiConfig) -> Request:
    """The request with the name of its API key, which `api_keys` replaces by the key."""
    key, url, secret = f"{{{config.api_key_env}}}", request.url, dict[str, str]()
    match config.auth_type:
        case "api_key":
            secret = {config.api_key_name or "X-API-Key": key}
        case "bearer":
            secret = {"Authorization": f"Bearer {key}"}
        case "basic":
            secret = {"Authorization": f"Basic {{basic:{config.api_key_env}}}"}
        case "query":
            url += ("&" if "?" in url else "?") + f"{quote(config.api_key_name or 'api_key')}={key}"
        case "none":
            pass
    return Request(url, headers=config.headers, secret=secret, context=request.context)


def read(body: bytes, request: Request, config: ApiConfig) -> BoardPage:
    """A page of records, or a single record."""
    response = lenient_models.parse_json(body)
    records = _records(response, config)
    if records is None:
        posting = _posting(response, config)
        if posting is None:
            raise lenient_models.unknown_response(PLATFORM.title)
        return BoardPage((posting,))
    postings = [posting for record in records if (posting := _posting(record, config))]
    if records and not postings:
        raise OutsideError("no record has a title at the configured path", permanent=True)
    next_, truncated = _next_page(response, len(records), request, config)
    return BoardPage(tuple(postings), next_, truncated, stubs=len(records) - len(postings))


def _posting(record: object, config: ApiConfig) -> Posting | None:
    posting = read_record(record, config.fields, config.base_url)
    if posting and posting.description is None and config.endpoints.details is not None:
        return replace(posting, partial=True)
    return posting


def _records(response: object, config: ApiConfig) -> list[object] | None:
    """The list of records; None if the response is a single record."""
    if config.items:
        return list_at(response, config.items)
    if isinstance(response, list):
        return cast(list[object], response)
    if not isinstance(response, dict) or (
        get_path(cast(object, response), config.fields.title) is not None
    ):
        return None
    values = cast(dict[str, object], response).values()
    lists = [cast(list[object], value) for value in values if isinstance(value, list)]
    return lists[0] if len(lists) == 1 else None


def get_path(value: object, path: str | None) -> Any:
    """The value at a dotted path. A list on the way gives the values of all its elements, or the element
    that a number names."""
    for name in path.split(".") if path else ():
        if isinstance(value, list):
            elements = cast(list[object], value)
            if name.isdigit():
                value = elements[int(name)] if int(name) < len(elements) else None
            else:
                inner = (get_path(element, name) for element in elements)
                value = [part for part in inner if part is not None]
        elif isinstance(value, dict):
            value = cast(dict[str, object], value).get(name)
        else:
            return None
    return value if path else None


def list_at(response: object, path: str) -> list[object]:
    """The list at a path; OutsideError where there is none."""
    value = get_path(response, path)
    if not isinstance(value, list):
        raise OutsideError(f"the response has no list at {path}", permanent=True)
    return cast(list[object], value)


def text_at(record: object, path: str | None) -> str | None:
    """The text or number at a path, or the first one of a list."""
    return next(iter(texts_at(record, path)), None)


def texts_at(record: object, path: str | None) -> list[str]:
    """All texts and numbers at a path."""
    return list(_texts(get_path(record, path)))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for element in cast(list[object], value):
            yield from _texts(element)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
        yield str(value)


def read_record(record: object, paths: ApiFields, base_url: str = "") -> Posting | None:
    """The posting of a record; None without a title."""
    title = html_text.single_line(text_at(record, paths.title))
    if not title:
        return None
    link = text_at(record, paths.url)
    description = "\n".join(texts_at(record, paths.description))
    locations = location_text.unique_locations(get_path(record, paths.location))
    return Posting(
        title=title,
        url=lenient_models.parse_link(absolute_url(link, base_url)) or "" if link else "",
        company=html_text.single_line(text_at(record, paths.company)),
        location="; ".join(locations) or None,
        # A single text may name several places, which are split later.
        locations=locations if len(locations) > 1 else (),
        arrangement=_arrangement(get_path(record, paths.remote)),
        department=html_text.single_line(text_at(record, paths.department)),
        employment_type=employment.parse_employment_type(get_path(record, paths.employment_type)),
        posted_at=dates.parse_date(get_path(record, paths.posted_at)),
        updated_at=dates.parse_date(get_path(record, paths.updated_at)),
        valid_through=dates.parse_deadline(get_path(record, paths.valid_through)),
        salary=salary.from_fields(
            get_path(record, paths.salary_min),
            get_path(record, paths.salary_max),
            get_path(record, paths.salary_currency),
            get_path(record, paths.salary_period),
        ),
        description=html_text.from_html(description),
        apply_url=lenient_models.parse_link(get_path(record, paths.apply_url)),
        vendor_id=text_at(record, paths.id),
    )


def _arrangement(value: object) -> Arrangement | None:
    if isinstance(value, bool):
        return "remote" if value else None
    return work_arrangement.from_label(value)


def _next_page(
    response: object, count: int, request: Request, config: ApiConfig
) -> tuple[tuple[Request, ...], bool]:
    """The request for the next page, and whether there is a page that is not requested."""
    paging, page = config.paging, request.context.get("page", 1)
    if paging is None or not count:
        return (), False
    if paging.by == "next":
        url = text_at(response, paging.next)
        if not url:
            return (), False
        return _follow(url, page, config) if page < paging.max_pages else ((), True)
    if count < paging.size:
        return (), False
    if page >= paging.max_pages:
        return (), True
    position: int = request.context.get("value") or paging.start
    step = 1 if paging.by == "page" else count
    return (_search_request(config, page + 1, position + step),), False


def _follow(url: str, page: int, config: ApiConfig) -> tuple[tuple[Request, ...], bool]:
    """The request for a URL from a response: only on the same host, because it carries the key."""
    link = absolute_url(url, config.base_url.rstrip("/") + "/")
    if link is None:
        return (), True
    url = quote(urldefrag(link)[0], safe="/?=&%,:;+@~!$'()*[]")
    target, base = urlsplit(url), urlsplit(config.base_url)
    if (target.scheme, target.netloc) != (base.scheme, base.netloc):
        return (), True
    return (_add_key_name(Request(url, context={"page": page + 1}), config),), False


def detail_request(posting: Posting, config: ApiConfig) -> Request:
    if config.endpoints.details is None:
        return Request(posting.url, page=True)
    path = config.endpoints.details.replace("{id}", quote(posting.vendor_id or "", safe=""))
    return _request(config, path, {}, 1, None)


def read_detail(body: bytes, posting: Posting, config: ApiConfig) -> Posting:
    response = lenient_models.parse_json(body)
    details = _posting(response, config) or _posting(_unwrap(response), config)
    if details is None:
        raise lenient_models.unknown_response(PLATFORM.title)
    return details


def _unwrap(response: object) -> object:
    """The record in a response that wraps it in one object."""
    values = cast(dict[str, object], response).values() if isinstance(response, dict) else ()
    return next((cast(object, value) for value in values if isinstance(value, dict)), None)


PLATFORM = Platform(
    name="api",
    title="Custom API",
    config=ApiConfig,
    token=lambda config: config.base_url + config.endpoints.search,
    first_request=first_request,
    read=read,
    detail_request=detail_request,
    read_detail=read_detail,
    inventory=False,
    is_shared_service=False,
)
