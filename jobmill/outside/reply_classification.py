"""What a reply means: one of the five answers, decided without any I/O."""

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
"""However long a server tells us to stay away, we look again after this."""

_PLAIN: dict[int, tuple[FetchCause, str]] = {
    401: ("auth", "wants a key, or does not know ours"),
    403: ("forbidden", "does not let us in"),
    405: ("forbidden", "does not let us ask in this way"),
    407: ("forbidden", "wants a proxy's password"),
    408: ("timeout", "says that we took too long"),
    451: ("forbidden", "may not show it for legal reasons"),
    999: ("forbidden", "does not let programs in"),
}

# All of these run on whatever a stranger sends: none may look at a letter many times.
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
_UNSEEN_PART = re.compile(r"</?(?:script|style|noscript)\b[^<>]{0,2000}>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,2000}>")
_CHALLENGE_SIZE = 200_000
_CHALLENGE_WORDS = 1_500
"""Letters to be seen: a page that says more than this says something."""

_FRONT = re.compile(r"(/[a-z]{2}([-_][a-z]{2})?)?/?(index\.\w{2,5})?", re.IGNORECASE)


def classify_reply(
    reply: HttpReply, asked: AllowedUrl, at: AllowedUrl, *, conditional: bool = False
) -> FetchResult:
    """`asked` is where we began, `at` where the redirects led; `conditional` if validators were sent."""
    if reply.status in OK_STATUSES:
        return _judge_body(reply, asked, at)
    if reply.status == 304 and conditional:
        return NotModified(at.url)
    if reply.status in (404, 410) and is_same_page(asked, at):
        return PageGone(at.url, reply.status)
    cause, words = _judge_status(reply)
    retry_after = parse_retry_after(reply) if cause == "rate_limited" else None
    detail = f"{at.host} {words} (status {reply.status})"
    return FetchFailure(at.url, cause, detail, reply.status, retry_after)


def is_rate_limited(reply: HttpReply) -> bool:
    """Whether it tells us to ask less often."""
    patient = reply.status in (403, 503) and parse_retry_after(reply) is not None
    return reply.status == 429 or patient


def parse_retry_after(reply: HttpReply, now: dt.datetime | None = None) -> dt.timedelta | None:
    """How long it tells us to wait, in seconds or as a date; None if it does not say.

    A date is measured from the site's own `Date`, and from `now` only where it sends none.
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
    # A date without a zone is meant as GMT, as all dates of HTTP are.
    return date if date.tzinfo else date.replace(tzinfo=dt.UTC)


def is_same_page(asked: AllowedUrl, at: AllowedUrl) -> bool:
    """Whether redirects have only changed how the thing is spelled, not what is asked for: then a
    404 is about the thing. Else it may be that of a front page, a login or another's site."""
    one, other = urlsplit(asked.url), urlsplit(at.url)
    if asked.host.removeprefix("www.") != at.host.removeprefix("www."):
        return False
    if not {*parse_qsl(one.query)} <= {*parse_qsl(other.query)}:
        return False
    return _last_part(one.path) == _last_part(other.path)


def is_challenge(html: str) -> bool:
    """Whether a page that says it is fine only wants to see a human, or a password."""
    if len(html) > _CHALLENGE_SIZE:
        return False
    found = _TITLE.search(html)
    title = " ".join(found[1].split()) if found else ""
    if _CHALLENGE_TITLE.fullmatch(title):
        return True
    suspect = _CHALLENGE_MARK.search(html) or (
        _LOGIN_TITLE.fullmatch(title) and re.search(r"type=[\"']?password", html, re.IGNORECASE)
    )
    return bool(suspect) and _letters_to_see(html) < _CHALLENGE_WORDS


def _letters_to_see(html: str) -> int:
    seen = "".join(_UNSEEN_PART.split(html)[::2])
    return len(" ".join(_TAG.sub(" ", seen).split()))


def _judge_status(reply: HttpReply) -> tuple[FetchCause, str]:
    if is_rate_limited(reply):
        return "rate_limited", "asks us to come back later"
    if reply.headers.get("cf-mitigated") or reply.headers.get("x-amzn-waf-action"):
        return "forbidden", "wants to see a human"
    if 500 <= reply.status < 600:
        return "server", "has a fault of its own"
    return _PLAIN.get(reply.status, ("status", "answered in a way that we do not know"))


def _judge_body(reply: HttpReply, asked: AllowedUrl, at: AllowedUrl) -> FetchResult:
    content_type = reply.headers.get("content-type", "")
    charset = find_charset(content_type, reply.body)
    if reply.cut_at is not None:
        return Truncated(at.url, reply.body, reply.cut_at, content_type, charset)
    if _is_sent_home(asked, at):
        return FetchFailure(at.url, "redirects", f"{at.host} shows its front page instead")
    validators = Validators(
        reply.headers.get("etag"), reply.headers.get("last-modified"), url=at.url
    )
    ok = Ok(at.url, reply.body, content_type, charset, validators)
    if _wants_a_human(reply, asked, ok):
        return FetchFailure(
            at.url, "forbidden", f"{at.host} wants a human or a login", reply.status
        )
    return ok


def _wants_a_human(reply: HttpReply, asked: AllowedUrl, ok: Ok) -> bool:
    if _LOGIN_PATH.search(urlsplit(ok.url).path) and not _LOGIN_PATH.search(asked.path):
        return True
    sign = reply.headers.get("cf-mitigated") or reply.headers.get("x-amzn-waf-action")
    is_html = "html" in ok.content_type.lower() or ok.body[:100].lstrip()[:1] == b"<"
    small = len(ok.body) <= _CHALLENGE_SIZE
    return bool(sign) or (is_html and small and is_challenge(ok.text))


def _is_sent_home(asked: AllowedUrl, at: AllowedUrl) -> bool:
    """A thing inside a site was asked for, and its front page is what we were led to."""
    began, ended = urlsplit(asked.url), urlsplit(at.url)
    same_site = asked.host.removeprefix("www.") == at.host.removeprefix("www.")
    at_home = _FRONT.fullmatch(ended.path) and not ended.query
    was_home = _FRONT.fullmatch(began.path) and not began.query
    return bool(same_site and at_home and not was_home)


def _last_part(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].lower()
