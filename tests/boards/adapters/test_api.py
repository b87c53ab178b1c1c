"""Custom APIs: URL, key and field paths from the config."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jobmill.boards import api_keys
from jobmill.boards.adapters import api
from jobmill.boards.platform import BoardPage
from jobmill.catalog.posting import Posting, Salary
from jobmill.errors import Invalid, OutsideError
from jobmill.outside.request import Request

from . import answer, read

API_CONFIG: dict[str, Any] = {
    "base_url": "https://api.panes.example",
    "auth_type": "api_key",
    "api_key_env": "PANES_API_KEY",
    "endpoints": {"search": "/jobs/search", "details": "/jobs/{id}"},
    "headers": {"Accept": "application/json"},
    "params": {"remote": "true", "limit": 100},
}
MAPPED_CONFIG: dict[str, Any] = {
    "base_url": "https://api.panes.example/v1",
    "items": "data.roles",
    "fields": {
        "id": "ref", "title": "name", "url": "link", "company": "employer.name",
        "location": "sites.city", "description": "body.html", "posted_at": "on", "remote": "wfh",
        "salary_min": "pay.from", "salary_max": "pay.to", "salary_currency": "pay.cur",
        "salary_period": "pay.per",
    },
    "paging": {"by": "next", "next": "meta.next"},
}  # fmt: skip


def config(**changes: Any) -> api.ApiConfig:
    return api.ApiConfig.model_validate(API_CONFIG | changes)


def page(body: object, request: Request | None = None, **changes: Any) -> BoardPage:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read("api", content, {"base_url": "https://api.panes.example"} | changes, request)


def test_a_request_is_built_from_the_config_and_names_its_key() -> None:
    request = api.first_request(config())
    assert request.url == "https://api.panes.example/jobs/search?remote=true&limit=100"
    assert request.headers == {"Accept": "application/json"}
    assert request.secret == {"X-API-Key": "{PANES_API_KEY}"}


@pytest.mark.parametrize(
    ("kind", "secret", "ending"),
    [
        ("bearer", {"Authorization": "Bearer {PANES_API_KEY}"}, "limit=100"),
        ("basic", {"Authorization": "Basic {basic:PANES_API_KEY}"}, "limit=100"),
        ("query", {}, "limit=100&api_key={PANES_API_KEY}"),
    ],
)
def test_the_key_is_sent_as_the_auth_type_says(kind: str, secret: object, ending: str) -> None:
    request = api.first_request(config(auth_type=kind))
    assert request.secret == secret
    assert request.url.endswith(ending)


def test_the_configured_key_is_inserted() -> None:
    chosen = config(auth_type="query", api_key_name="token")
    filled = api_keys.insert_keys(
        api.first_request(chosen),
        api_keys.key_names(api.PLATFORM, chosen),
        {"PANES_API_KEY": "s3/cret"},
    )
    assert filled.private_url.endswith("&token=s3%2Fcret")
    assert api_keys.missing_keys(api.PLATFORM, chosen, {}) == ("PANES_API_KEY",)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"auth_type": "oauth2"}, "OAuth is not supported"),
        ({"auth_type": "bearer", "api_key_env": None}, "or neither"),
        ({"auth_type": "none"}, "or neither"),
        ({"api_key_env": "DATABASE_URL"}, "_API_KEY"),
        ({"api_key_env": "JOBMILL_API_KEY"}, "_API_KEY"),
        ({"headers": {"Authorization": "Bearer x"}}, "api_key_env"),
        ({"headers": {"cookie": "x"}}, "api_key_env"),
        ({"base_url": "http://api.panes.example"}, "base_url"),
        ({"paging": {"by": "page", "max_pages": 0}}, "max_pages"),
    ],
)
def test_an_invalid_config_names_its_errors(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(Invalid, match=why):
        api.PLATFORM.parse_config(API_CONFIG | wrong)


def test_fields_are_read_from_the_configured_paths() -> None:
    (posting,) = read("api", answer("api/page.json"), MAPPED_CONFIG).postings
    assert (posting.title, posting.company, posting.vendor_id) == ("Glazier", "Panes", "11")
    assert posting.locations == ("Ghent", "Bruges")
    assert (posting.description, posting.arrangement) == ("Cut glass.", "hybrid")
    assert posting.salary == Salary(30, 35, "EUR", "hour", "structured")
    assert posting.posted_at


def test_a_malformed_record_is_counted() -> None:
    assert read("api", answer("api/page.json"), MAPPED_CONFIG).stubs == 1


@pytest.mark.parametrize(
    "body",
    [[{"title": "Glazier"}], {"total": 1, "results": [{"title": "Glazier"}]}, {"title": "Glazier"}],
)
def test_records_are_found_without_a_configured_path(body: object) -> None:
    assert [posting.title for posting in page(body).postings] == ["Glazier"]


@pytest.mark.parametrize(
    "body",
    [{"error": "bad key"}, {"a": [], "b": []}, 3, None, [{"name": "x"}], b"<html>", b""],
)
def test_a_response_without_records_is_an_error(body: object) -> None:
    with pytest.raises(OutsideError):
        page(body)


def test_a_response_without_the_configured_list_is_an_error() -> None:
    with pytest.raises(OutsideError, match=r"data\.roles"):
        page({"data": {"roles": {}}}, items="data.roles")


def test_pages_are_requested_by_number_until_one_is_short() -> None:
    chosen = {"paging": {"by": "page", "param": "p", "size": 2, "max_pages": 3}}
    full, short = [{"title": "A"}, {"title": "B"}], [{"title": "C"}]
    first = api.first_request(
        api.ApiConfig.model_validate({"base_url": "https://api.panes.example"} | chosen)
    )
    (second,) = page(full, first, **chosen).next
    (third,) = page(full, second, **chosen).next
    assert [request.url.rpartition("?")[2] for request in (first, second, third)] == [
        "p=1",
        "p=2",
        "p=3",
    ]
    assert page(short, second, **chosen).next == ()
    assert page(full, third, **chosen).truncated


def test_pages_are_requested_by_offset() -> None:
    chosen = {"paging": {"by": "offset", "param": "from", "start": 0, "size": 2}}
    first = api.first_request(
        api.ApiConfig.model_validate({"base_url": "https://api.panes.example"} | chosen)
    )
    (second,) = page([{"title": "A"}, {"title": "B"}], first, **chosen).next
    assert (first.url[-6:], second.url[-6:]) == ("from=0", "from=2")


def test_the_url_of_the_next_page_is_followed_on_the_same_host_only() -> None:
    (more,) = read("api", answer("api/page.json"), MAPPED_CONFIG).next
    assert more.url == "https://api.panes.example/v1/roles?cursor=b2"
    for away in ("https://evil.example/x", "//evil.example/x", "http://api.panes.example/x"):
        body = answer("api/page.json").replace(b"/v1/roles?cursor=b2", away.encode())
        gone = read("api", body, MAPPED_CONFIG)
        assert (gone.next, gone.truncated) == ((), True)


def test_a_response_cannot_put_the_name_of_a_key_into_a_url() -> None:
    body = answer("api/page.json").replace(b"cursor=b2", b"x={PANES_API_KEY}")
    signed = MAPPED_CONFIG | {"auth_type": "bearer", "api_key_env": "PANES_API_KEY"}
    (more,) = read("api", body, signed).next
    posting = Posting("x", vendor_id="{PANES_API_KEY}")
    for request in (more, api.detail_request(posting, config(auth_type="bearer"))):
        filled = api_keys.insert_keys(request, ("PANES_API_KEY",), {"PANES_API_KEY": "s3cret"})
        assert filled.private_url == ""
        assert "s3cret" not in filled.url


def test_a_posting_is_requested_by_its_id_and_read_even_if_wrapped() -> None:
    posting = Posting("Glazier", vendor_id="11/a", partial=True)
    request = api.detail_request(posting, config())
    complete = api.PLATFORM.read_detail_response(
        b'{"job": {"id": 11, "title": "Glazier", "description": "<p>Cut.</p>"}}', posting, config()
    )
    assert request.url == "https://api.panes.example/jobs/11%2Fa"
    assert request.secret == {"X-API-Key": "{PANES_API_KEY}"}
    assert (complete.description, complete.partial) == ("Cut.", False)


def test_urls_of_next_pages_are_followed_up_to_the_maximum() -> None:
    last = read("api", answer("api/page.json"), MAPPED_CONFIG, Request("", context={"page": 10}))
    assert (last.next, last.truncated) == ((), True)
