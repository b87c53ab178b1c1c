"""Any API that lists postings as JSON, by where it is and what its fields are called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, cast
from urllib.parse import quote, urldefrag, urlencode, urljoin, urlsplit

from pydantic import AfterValidator, Field, field_validator, model_validator

from jobmill.catalog.posting import Arrangement, Posting
from jobmill.errors import OutsideError
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary, work_arrangement
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardPage, Config, Platform

# Whoever may add a source must not be able to send out what else the environment holds.
KEY_NAME = re.compile(
    r"(?!JOBMILL_|AWS_|OPENAI_|ANTHROPIC_|GITHUB_)[A-Z][A-Z0-9_]*_API_(KEY|TOKEN)"
)
PRIVATE = frozenset({"authorization", "cookie", "proxy-authorization", "host"})


def _key_name(name: str) -> str:
    if not KEY_NAME.fullmatch(name):
        raise ValueError("name a variable of its own that ends with _API_KEY or _API_TOKEN")
    return name


class ApiEndpoints(Config):
    search: str = ""
    details: str | None = None
    """Where one posting is, with {id} in it."""


class ApiFields(Config):
    """Where a posting's parts are in its record: names, with dots for what lies deeper."""

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
    """How further pages are asked for: by number, by offset, or at the address an answer names."""

    by: Literal["page", "offset", "next"]
    param: str = "page"
    start: int = 1
    size: Annotated[int, Field(ge=1)] = 100
    """How many records a whole page has; a shorter one is the last."""
    next: str = "next"
    """Where the address of the next page is, for `by: next`."""
    max_pages: Annotated[int, Field(ge=1, le=200)] = 10


class ApiConfig(Config):
    base_url: Annotated[str, Field(pattern=r"^https://[^/\s]+")]
    auth_type: Literal["none", "api_key", "bearer", "basic", "query"] = "none"
    api_key_env: Annotated[str, AfterValidator(_key_name)] | None = None
    """The environment variable that holds the key; for `basic`, a key or user:password."""
    api_key_name: str | None = None
    """The header (`api_key`) or parameter (`query`) that takes it."""
    endpoints: ApiEndpoints = ApiEndpoints()
    headers: dict[str, str] = Field(default_factory=dict)
    params: dict[str, str | int | float | bool] = Field(default_factory=dict)
    items: str | None = None
    """Where the records are; without it, the answer itself or its only list."""
    fields: ApiFields = ApiFields()
    paging: ApiPaging | None = None

    @field_validator("auth_type", mode="before")
    @classmethod
    def _no_oauth(cls, value: object) -> object:
        if isinstance(value, str) and "oauth" in value.lower():
            raise ValueError("OAuth needs an integration of its own: write an adapter for this API")
        return value

    @field_validator("headers")
    @classmethod
    def _no_secrets(cls, headers: dict[str, str]) -> dict[str, str]:
        for name in headers:
            if name.lower() in PRIVATE:
                raise ValueError(
                    f"{name} is not set here: put the key into a variable, api_key_env"
                )
        return headers

    @model_validator(mode="after")
    def _has_key(self) -> Self:
        if (self.auth_type == "none") != (self.api_key_env is None):
            raise ValueError("auth_type and api_key_env belong together")
        return self


def first_request(config: ApiConfig) -> Request:
    start = config.paging.start if config.paging and config.paging.by != "next" else None
    return _ask(config, 1, start)


def _ask(config: ApiConfig, number: int, value: int | None) -> Request:
    params = {name: str(value).lower() if isinstance(value, bool) else value
              for name, value in config.params.items()}  # fmt: skip
    if config.paging and value is not None:
        params[config.paging.param] = value
    return _request(config, config.endpoints.search, params, number, value)


def _request(
    config: ApiConfig, path: str, params: Mapping[str, object], number: int, value: int | None
) -> Request:
    url = config.base_url.rstrip("/") + (
        "/" + quote(path.lstrip("/"), safe="/?=&%,:;") if path else ""
    )
    if params:
        url += ("&" if "?" in url else "?") + urlencode(params)
    return _signed(Request(url, context={"page": number, "value": value}), config)


def _signed(request: Request, config: ApiConfig) -> Request:
    """The request with the name of its key where the key will be."""
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
    """A page of records, or one record."""
    answer = lenient_models.parse_json(body)
    records = _records(answer, config)
    if records is None:
        one = _posting(answer, config)
        if one is None:
            raise lenient_models.unknown_response(PLATFORM.title)
        return BoardPage((one,))
    postings = [one for record in records if (one := _posting(record, config))]
    if records and not postings:
        raise OutsideError("no record has a title where the config says", permanent=True)
    next_, truncated = _turn(answer, len(records), request, config)
    return BoardPage(tuple(postings), next_, truncated, stubs=len(records) - len(postings))


def _records(answer: object, config: ApiConfig) -> list[object] | None:
    """The list of records; None where the answer is one record itself."""
    if config.items:
        found = pick(answer, config.items)
        if not isinstance(found, list):
            raise OutsideError(f"the answer has no list at {config.items}", permanent=True)
        return cast(list[object], found)
    if isinstance(answer, list):
        return cast(list[object], answer)
    if not isinstance(answer, dict) or pick(cast(object, answer), config.fields.title) is not None:
        return None
    values = cast(dict[str, object], answer).values()
    lists = [cast(list[object], value) for value in values if isinstance(value, list)]
    return lists[0] if len(lists) == 1 else None


def pick(value: object, path: str | None) -> Any:
    """What lies at a path; of each element where a list is on the way."""
    for name in path.split(".") if path else ():
        if isinstance(value, list):
            held = cast(list[object], value)
            if name.isdigit():
                value = held[int(name)] if int(name) < len(held) else None
            else:
                value = [found for one in held if (found := pick(one, name)) is not None]
        elif isinstance(value, dict):
            value = cast(dict[str, object], value).get(name)
        else:
            return None
    return value if path else None


def _posting(record: object, config: ApiConfig) -> Posting | None:
    names = config.fields
    title = html_text.single_line(_scalar(pick(record, names.title)))
    if not title:
        return None
    link = _scalar(pick(record, names.url))
    description = html_text.from_html(_joined(pick(record, names.description)))
    where = location_text.unique_locations(pick(record, names.location))
    return Posting(
        title=title,
        url=lenient_models.parse_link(urljoin(config.base_url, link)) or "" if link else "",
        company=html_text.single_line(_scalar(pick(record, names.company))),
        location="; ".join(where) or None,
        # One text may hold several places; a list has one each.
        locations=where if len(where) > 1 else (),
        arrangement=_arrangement(pick(record, names.remote)),
        department=html_text.single_line(_scalar(pick(record, names.department))),
        employment_type=employment.parse_employment_type(pick(record, names.employment_type)),
        posted_at=dates.parse_date(pick(record, names.posted_at)),
        updated_at=dates.parse_date(pick(record, names.updated_at)),
        valid_through=dates.parse_deadline(pick(record, names.valid_through)),
        salary=salary.from_fields(
            pick(record, names.salary_min),
            pick(record, names.salary_max),
            pick(record, names.salary_currency),
            pick(record, names.salary_period),
        ),
        description=description,
        apply_url=lenient_models.parse_link(pick(record, names.apply_url)),
        vendor_id=_scalar(pick(record, names.id)),
        partial=description is None and config.endpoints.details is not None,
    )


def _scalar(value: object) -> str | None:
    if isinstance(value, list):
        return next((found for one in cast(list[object], value) if (found := _scalar(one))), None)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value)


def _joined(value: object) -> str | None:
    if isinstance(value, list):
        return "\n".join(filter(None, map(_scalar, cast(list[object], value)))) or None
    return _scalar(value)


def _arrangement(value: object) -> Arrangement | None:
    if isinstance(value, bool):
        return "remote" if value else None
    return work_arrangement.from_label(value)


def _turn(
    answer: object, count: int, request: Request, config: ApiConfig
) -> tuple[tuple[Request, ...], bool]:
    """The next page, and whether there is one that we do not read."""
    paging, number = config.paging, request.context.get("page", 1)
    if paging is None or not count:
        return (), False
    if paging.by == "next":
        url = _scalar(pick(answer, paging.next))
        if not url:
            return (), False
        return _follow(url, number, config) if number < paging.max_pages else ((), True)
    if count < paging.size:
        return (), False
    if number >= paging.max_pages:
        return (), True
    value: int = request.context.get("value") or paging.start
    step = 1 if paging.by == "page" else count
    return (_ask(config, number + 1, value + step),), False


def _follow(url: str, number: int, config: ApiConfig) -> tuple[tuple[Request, ...], bool]:
    """An address out of an answer: only on the same host, for the key goes with it."""
    url = urldefrag(urljoin(config.base_url.rstrip("/") + "/", url))[0]
    url = quote(url, safe="/?=&%,:;+@~!$'()*[]")
    theirs, ours = urlsplit(url), urlsplit(config.base_url)
    if (theirs.scheme, theirs.netloc) != (ours.scheme, ours.netloc):
        return (), True
    return (_signed(Request(url, context={"page": number + 1}), config),), False


def detail_request(posting: Posting, config: ApiConfig) -> Request:
    if config.endpoints.details is None:
        return Request(posting.url, page=True)
    path = config.endpoints.details.replace("{id}", quote(posting.vendor_id or "", safe=""))
    return _request(config, path, {}, 1, None)


def read_detail(body: bytes, posting: Posting, config: ApiConfig) -> Posting:
    answer = lenient_models.parse_json(body)
    found = _posting(answer, config) or _posting(_inner(answer), config)
    if found is None:
        raise lenient_models.unknown_response(PLATFORM.title)
    return lenient_models.merge_details(posting, found)


def _inner(answer: object) -> object:
    """The record in an answer that is wrapped once."""
    values = cast(dict[str, object], answer).values() if isinstance(answer, dict) else ()
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
    vendor=False,
)
