"""Classifies a reply as one of the five results of a fetch, without I/O."""

from __future__ import annotations

import datetime as dt
import re
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qsl, urlsplit

from jobmill.outside.charset import find_charset
from jobmill.outside.request import (
    FetchCause,
    FetchFailure,
    FetchResult,
    NotModified,
    Ok,
    PageGone,
    Truncated,
    Validators,
)

from .http_exchange import OK_STATUSES, HttpReply
from .public_addresses import AllowedUrl

MAX_RETRY_AFTER = dt.timedelta(hours=6)
"""A longer Retry-After is cut to this."""

_STATUS_CAUSES: dict[int, tuple[FetchCause, str]] = {
    401: ("auth", "requires a valid key"),
    403: ("forbidden", "denied access"),
    405: ("forbidden", "does not allow this method"),
    407: ("forbidden", "requires proxy authentication"),
    408: ("timeout", "reported a request timeout"),
    451: ("forbidden", "withholds the page for legal reasons"),
    999: ("forbidden", "blocks automated requests"),
}

# These run on untrusted input, so none may backtrack.
_TITLE = re.compile(r"<title[^<>]{0,200}>([^<]{0,300})", re.IGNORECASE)
_CHALLENGE_TITLE = re.compile(
    r"just a moment\W*|attention required!.*|access (to this page has been )?denied\W*"
    r"|(please )?verify(ing)? (that )?you are (a )?human.*|pardon our interruption\W*"
    r"|are you (a robot|human|not a robot)\W*|robot check|human verification|security check"
    r"|checking your browser.*|ddos-guard|bot verification|captcha( challenge)?|.{0,60}\| captcha"
    r"|request unsuccessful.*|you have been blocked.*|client challenge|one more step.*",
    re.IGNORECASE,
)
_LOGIN_TITLE = re.compile(
    r"(.{0,60}\W)?(log ?in|sign ?in|anmelden|einloggen|connexion|iniciar sesión|inloggen)(\W.{0,60})?",
    re.IGNORECASE,
)
_CHALLENGE_MARK = re.compile(
    r"_cf_chl_opt|cf-chl-|captcha-delivery\.com|id=[\"']px-captcha|sec-if-cpt-container"
    r"|AwsWafIntegration|Incapsula incident ID|verify (that )?you are (a )?human"
    r"|enable JavaScript and cookies to continue",
    re.IGNORECASE,
)
_LOGIN_PATH = re.compile(
    r"/(log[-_]?in|sign[-_]?in|sso|saml2?|oauth2?|authorize)(/|\.|\?|$)", re.IGNORECASE
)
_HIDDEN_ELEMENT = re.compile(r"</?(?:script|style|noscript)\b[^<>]{0,2000}>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,2000}>")
_MAX_CHALLENGE_SIZE = 200_000
_MAX_CHALLENGE_TEXT = 1_500
"""Visible characters; a page with more text is not a challenge."""

_FRONT_PAGE = re.compile(r"(/[a-z]{2}([-_][a-z]{2})?)?/?(index\.\w{2,5})?", re.IGNORECASE)


def classify_reply(
    reply: HttpReply, requested: AllowedUrl, at: AllowedUrl, *, conditional: bool = False
) -> FetchResult:
    """Classify a reply. `requested` is the original URL, `at` the URL after redirects;
    `conditional`: validators were sent."""
    if reply.status in OK_STATUSES:
        return _classify_body(reply, requested, at)
    if reply.status == 304 and conditional:
        return NotModified(at.url)
    if reply.status in (404, 410) and is_same_page(requested, at):
        return PageGone(at.url, reply.status)
    cause, description = _classify_status(reply)
    retry_after = parse_retry_after(reply) if cause == "rate_limited" else None
    detail = f"{at.host} {description} (status {reply.status})"
    return FetchFailure(at.url, cause, detail, reply.status, retry_after)


def is_rate_limited(reply: HttpReply) -> bool:
    """Whether the server asks us to slow down."""
    has_retry_after = reply.status in (403, 503) and parse_retry_after(reply) is not None
    return reply.status == 429 or has_retry_after


def parse_retry_after(reply: HttpReply, now: dt.datetime | None = None) -> dt.timedelta | None:
    """The wait in the Retry-After header, in seconds or as a date; None without the header.

    A date is relative to the server's own `Date`, or to `now` if it sends none.
    """
    text = reply.headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text):
        wait = dt.timedelta(seconds=float(text))
    else:
        until = _read_date(text)
        if until is None:
            return None
        sent_at = _read_date(reply.headers.get("date", ""))
        wait = until - (sent_at or now or dt.datetime.now(dt.UTC))
    return min(max(wait, dt.timedelta(seconds=1)), MAX_RETRY_AFTER)


def _read_date(text: str) -> dt.datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    # Dates in HTTP are in GMT, even without a zone.
    return date if date.tzinfo else date.replace(tzinfo=dt.UTC)


def is_same_page(requested: AllowedUrl, at: AllowedUrl) -> bool:
    """Whether the redirects kept host, query and last part of the path. Only then a 404 is about
    the requested page and not about a front page, a login or another site."""
    first, last = urlsplit(requested.url), urlsplit(at.url)
    if requested.host.removeprefix("www.") != at.host.removeprefix("www."):
        return False
    if not {*parse_qsl(first.query)} <= {*parse_qsl(last.query)}:
        return False
    return _last_part(first.path) == _last_part(last.path)


def is_challenge(html: str) -> bool:
    """Whether a page with status 200 is a bot challenge or a login form."""
    if len(html) > _MAX_CHALLENGE_SIZE:
        return False
    match = _TITLE.search(html)
    title = " ".join(match[1].split()) if match else ""
    if _CHALLENGE_TITLE.fullmatch(title):
        return True
    suspect = _CHALLENGE_MARK.search(html) or (
        _LOGIN_TITLE.fullmatch(title) and re.search(r"type=[\"']?password", html, re.IGNORECASE)
    )
    return bool(suspect) and _visible_length(html) < _MAX_CHALLENGE_TEXT


def _visible_length(html: str) -> int:
    visible = "".join(_HIDDEN_ELEMENT.split(html)[::2])
    return len(" ".join(_TAG.sub(" ", visible).split()))


def _classify_status(reply: HttpReply) -> tuple[FetchCause, str]:
    if is_rate_limited(reply):
        return "rate_limited", "asked us to slow down"
    if reply.headers.get("cf-mitigated") or reply.headers.get("x-amzn-waf-action"):
        return "forbidden", "requires a human check"
    if 500 <= reply.status < 600:
        return "server", "had a server error"
    return _STATUS_CAUSES.get(reply.status, ("status", "sent an unexpected status"))


def _classify_body(reply: HttpReply, requested: AllowedUrl, at: AllowedUrl) -> FetchResult:
    content_type = reply.headers.get("content-type", "")
    charset = find_charset(content_type, reply.body)
    if reply.truncated_at is not None:
        return Truncated(at.url, reply.body, reply.truncated_at, content_type, charset)
    if _is_redirected_to_front_page(requested, at):
        return FetchFailure(at.url, "redirects", f"{at.host} redirected to its front page")
    validators = Validators(
        reply.headers.get("etag"), reply.headers.get("last-modified"), url=at.url
    )
    robots_header = reply.headers.get("x-robots-tag", "")
    ok = Ok(at.url, reply.body, content_type, charset, validators, robots_header)
    if _is_challenge_or_login(reply, requested, ok):
        return FetchFailure(
            at.url, "forbidden", f"{at.host} requires a human check or a login", reply.status
        )
    return ok


def _is_challenge_or_login(reply: HttpReply, requested: AllowedUrl, ok: Ok) -> bool:
    if _LOGIN_PATH.search(urlsplit(ok.url).path) and not _LOGIN_PATH.search(requested.path):
        return True
    sign = reply.headers.get("cf-mitigated") or reply.headers.get("x-amzn-waf-action")
    is_html = "html" in ok.content_type.lower() or ok.body[:100].lstrip()[:1] == b"<"
    small = len(ok.body) <= _MAX_CHALLENGE_SIZE
    return bool(sign) or (is_html and small and is_challenge(ok.text))


def _is_redirected_to_front_page(requested: AllowedUrl, at: AllowedUrl) -> bool:
    """Whether a request for a page within the site was redirected to the front page."""
    began, ended = urlsplit(requested.url), urlsplit(at.url)
    same_site = requested.host.removeprefix("www.") == at.host.removeprefix("www.")
    at_home = _FRONT_PAGE.fullmatch(ended.path) and not ended.query
    was_home = _FRONT_PAGE.fullmatch(began.path) and not began.query
    return bool(same_site and at_home and not was_home)


def _last_part(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].lower()
