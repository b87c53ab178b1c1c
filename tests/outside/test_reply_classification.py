from __future__ import annotations

import datetime as dt

import httpx2
import pytest

from jobmill.outside.http_exchange import HttpReply
from jobmill.outside.public_addresses import parse_url
from jobmill.outside.reply_classification import (
    classify_reply,
    is_challenge,
    is_same_page,
    parse_retry_after,
)
from jobmill.outside.request import FetchFailure, Ok

NOW = dt.datetime(2026, 11, 15, 12, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        ("0", 1),
        ("1.5", 1.5),
        ("Sun, 15 Nov 2026 12:10:00 GMT", 600),
        ("Sunday, 15-Nov-26 12:10:00 GMT", 600),
        ("Sun, 15 Nov 2026 12:10:00", 600),
        ("Sun, 15 Nov 2026 11:00:00 GMT", 1),
        ("999999999", 6 * 3600),
        ("Sun, 15 Nov 2099 12:00:00 GMT", 6 * 3600),
        ("9" * 400, None),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_retry_after_is_parsed_as_seconds_or_date_with_a_maximum(
    text: str, seconds: float | None
) -> None:
    wait = parse_retry_after(HttpReply(429, httpx2.Headers({"Retry-After": text})), NOW)
    assert wait == (None if seconds is None else dt.timedelta(seconds=seconds))


@pytest.mark.parametrize("wrong", [dt.timedelta(hours=1), dt.timedelta(hours=-1)])
def test_a_retry_after_date_is_relative_to_the_servers_clock(wrong: dt.timedelta) -> None:
    dates = {
        "Date": "Sun, 15 Nov 2026 12:00:00 GMT",
        "Retry-After": "Sun, 15 Nov 2026 12:10:00 GMT",
    }
    reply = HttpReply(429, httpx2.Headers(dates))
    assert parse_retry_after(reply, NOW + wrong) == dt.timedelta(minutes=10)


SAME = [
    ("https://a.com/jobs/1", "https://a.com/jobs/1/", True),
    ("http://a.com/jobs/1", "https://www.a.com/en/jobs/1", True),
    ("https://a.com/jobs/1?x=1", "https://a.com/jobs/1?x=1&lang=en", True),
    ("https://a.com/Jobs/A", "https://a.com/jobs/a", True),
    ("https://a.com/jobs/1?x=1", "https://a.com/jobs/1", False),
    ("https://a.com/jobs/1", "https://a.com/", False),
    ("https://a.com/jobs/1", "https://a.com/jobs", False),
    ("https://a.com/jobs/1", "https://b.com/jobs/1", False),
    ("https://a.com/jobs/1", "https://careers.a.com/jobs/1", False),
    ("https://a.com/jobs/1", "https://a.com/error?aspxerrorpath=/jobs/1", False),
]  # fmt: skip


@pytest.mark.parametrize(("requested", "at", "same"), SAME)
def test_a_redirect_leads_to_the_same_page_or_another(requested: str, at: str, same: bool) -> None:
    assert is_same_page(parse_url(requested), parse_url(at)) is same


HOME = [
    ("https://a.com/jobs/1", "https://a.com/", True),
    ("https://a.com/jobs/1", "https://www.a.com/en-us/", True),
    ("https://a.com/careers?gh_jid=1", "https://a.com/index.html", True),
    ("https://a.com/?gh_jid=1", "https://a.com/", True),
    ("https://a.com/careers", "https://careers.a.com/", False),
    ("https://a.com/index.html", "https://a.com/", False),
    ("https://a.com/", "https://a.com/en", False),
    ("https://a.com/jobs/1", "https://a.com/jobs", False),
]  # fmt: skip


@pytest.mark.parametrize(("requested", "at", "home"), HOME)
def test_a_redirect_to_the_front_page_is_recognized(requested: str, at: str, home: bool) -> None:
    answer = classify_reply(
        HttpReply(200, httpx2.Headers(), b"hi"), parse_url(requested), parse_url(at)
    )
    assert isinstance(answer, FetchFailure if home else Ok)


LONG = "<p>We build rockets and we want you to help us do that.</p>" * 60
CHALLENGES = [
    "<title>Just a moment...</title>",
    "<title>\n Attention Required! | Cloudflare </title>" + LONG,
    "<title>Verify you are human</title>",
    "<title lang=en>Pardon Our Interruption</title>",
    "<title>Access denied</title>",
    "<title>acme.com</title><p>Please verify you are a human</p>",
    "<script>window._cf_chl_opt={}</script><script>var long='" + LONG + "'</script>",
    "<title>acme.com</title><script src=https://ct.captcha-delivery.com/c.js></script>",
    "<title>Log in | Acme</title><form><input type=password></form>",
    "<title>Acme - Sign in</title><form><input name=p type='password'></form>",
]
PAGES = [
    "",
    "<title>Senior engineer</title>" + LONG,
    "<title>Access Denied Analyst at Acme</title>" + LONG,
    "<title>Security check-in officer</title>",
    "<title>Acme careers</title><input type=password placeholder=candidates>" + LONG,
    "<title>Sign in engineer</title><input type=password>" + LONG,
    "<title>Blogger (log in from anywhere)</title>",
    "<title>Acme</title><p>cf-chl- is a mark</p>" + LONG,
    "<title>Jobs</title><script src=/cdn-cgi/challenge-platform/x.js></script>",
    "<title>Just a moment...</title>" + " " * 200_000,
]


def test_challenges_are_told_apart_from_content() -> None:
    assert [page for page in CHALLENGES if not is_challenge(page)] == []
    assert [page for page in PAGES if is_challenge(page)] == []


@pytest.mark.parametrize("part", ["<title>", "<script", "<script>", "<", "<!--", " ", "<title> ", "a|"])  # fmt: skip
def test_classification_takes_linear_time(part: str) -> None:
    """A pattern that backtracks would exceed the time limit of the tests."""
    assert not is_challenge(part * (190_000 // len(part)))
    is_challenge("cf-chl-" + part * (190_000 // len(part)))
