"""One page, one URL; and the posting that a URL gives away."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import SplitResult, urlsplit

from jobmill.errors import Invalid

LONGEST: Final = 4096

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_LANGUAGE = r"(?:/[a-zA-Z]{2}(?:[-_][a-zA-Z]{2})?)?"

_TRACKING = re.compile(
    r"(utm|mtm|pk|hsa|hs|mc|mkt|ga|gad|rx)_.*|_{1,2}hs.*|hsctatracking"
    r"|lever-.*|gh_src|ref|referr?er|ref_?src|source|src|via|from|medium|campaign(_?id)?"
    r"|fbclid|gclid|gclsrc|dclid|[wg]braid|msclkid|yclid|twclid|ttclid|li_fat_id|igsh(id)?"
    r"|trk|trkinfo|trackingid|tracking|lipi|mcid|cmpid|s_kwcid|spm|_ga|_gl|iisn?|share|jsessionid",
    re.IGNORECASE,
)
# In a query, what says which posting it is: by its name, or by a number or uuid as its value.
_ID_NAME = re.compile(r"jk|vjk|jl|j|p|.*(id|jid|req|job|pos|vacan|offer|key|code|no|num|nr|token)")
_ID_VALUE = re.compile(rf".*\d{{3}}.*|{_UUID}")
_LIST = re.compile(
    r"((all-|our-|open-|current-)?(careers?|jobs?|openings?|positions?|vacanc(y|ies)|roles|karriere)"
    r"|join(-us)?|work-with-us|about(-us)?|company|index|home|apply|search)?(\.\w+)?\??"
)
_TWO_LEVELS = re.compile(
    r"(?:co|com|org|net|gov|edu|ac|or|ne|go|gob|nom|ltd|plc)\.[a-z]{2}"
    r"|(?:github|gitlab)\.io|(?:vercel|netlify|web)\.app|pages\.dev|herokuapp\.com"
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """How a platform's posting URLs look; all that `page` leaves out is decoration."""

    platform: str
    host: re.Pattern[str]
    path: re.Pattern[str]
    page: str
    query: tuple[tuple[str, str], ...] = ()
    """Groups that stand in parameters; each must be there."""
    fold: bool = False
    """Whether the platform takes any case."""


def _rule(
    platform: str, host: str, path: str, page: str, *, fold: bool = False, **query: str
) -> _Rule:
    patterns = (re.compile(part) for part in (host, path))
    return _Rule(platform, *patterns, page=page, query=tuple(query.items()), fold=fold)


_GREENHOUSE = r"(?:job-)?boards(?P<eu>\.eu)?\.greenhouse\.io"
_GREENHOUSE_PAGE = "https://boards{eu}.greenhouse.io/{board}/jobs/{id}"
_LEVER_PAGE = "https://jobs{eu}.lever.co/{board}/{id}"
_WORKDAY_JOB = (
    r"(?P<site>[^/]+)/(?:job|details)/(?:[^/]+/)*?"
    r"(?P<slug>[^/]*_(?P<id>[A-Za-z]*[-_]?\d[\w-]*?)(?:-\d{1,2})?)"
    r"(?:/(?:apply|login|autofillWithResume|useMyLastApplication).*)?"
)
_WORKDAY_PAGE = "https://{board}.{dc}.myworkdayjobs.com/{site}/job/{slug}"
_WORKABLE_PAGE = "https://apply.workable.com/j/{id}"
_SMART_PAGE = "https://jobs.smartrecruiters.com/{board}/{id}"
_SUB = r"(?P<board>[\w-]+)"

_RULES: Final = (
    _rule("greenhouse", _GREENHOUSE, r"/(?P<board>[^/]+)/jobs/(?P<id>\d+)(?:/.*)?",
          _GREENHOUSE_PAGE, fold=True),
    _rule("greenhouse", _GREENHOUSE, r"/embed/job_app", _GREENHOUSE_PAGE,
          fold=True, board="for", id="token"),
    _rule("greenhouse", _GREENHOUSE, r"/embed/job_board", _GREENHOUSE_PAGE,
          fold=True, board="for", id="gh_jid"),
    _rule("greenhouse", _GREENHOUSE, r"/embed/job_app",
          "https://boards{eu}.greenhouse.io/embed/job_app?token={id}", id="token"),
    _rule("greenhouse", r"(?:boards-)?api\.greenhouse\.io",
          r"/v1/boards/(?P<board>[^/]+)/jobs/(?P<id>\d+)", _GREENHOUSE_PAGE, fold=True),
    _rule("lever", r"jobs(?P<eu>\.eu)?\.lever\.co",
          rf"/(?P<board>[^/]+)/(?P<id>{_UUID})(?:/.*)?", _LEVER_PAGE, fold=True),
    _rule("lever", r"api(?P<eu>\.eu)?\.lever\.co",
          rf"/v0/postings/(?P<board>[^/]+)/(?P<id>{_UUID})", _LEVER_PAGE, fold=True),
    _rule("ashby", r"jobs\.ashbyhq\.com", rf"/(?P<board>[^/]+)/(?P<id>{_UUID})(?:/.*)?",
          "https://jobs.ashbyhq.com/{board}/{id}", fold=True),
    _rule("workday", rf"{_SUB}\.(?P<dc>wd\d+)\.myworkdayjobs\.com",
          rf"{_LANGUAGE}/{_WORKDAY_JOB}", _WORKDAY_PAGE),
    _rule("workday", r"[\w-]+\.(?P<dc>wd\d+)\.myworkdayjobs\.com",
          rf"/wday/cxs/{_SUB}/{_WORKDAY_JOB}", _WORKDAY_PAGE),
    _rule("workday", r"(?:[\w-]+\.)?(?P<dc>wd\d+)\.myworkdaysite\.com",
          rf"{_LANGUAGE}/recruiting/{_SUB}/{_WORKDAY_JOB}", _WORKDAY_PAGE),
    _rule("smartrecruiters", r"(?:jobs|careers)\.smartrecruiters\.com",
          r"/(?P<board>[^/]+)/(?P<id>\d{9,})(?:-[^/]*)?(?:/.*)?", _SMART_PAGE, fold=True),
    _rule("smartrecruiters", r"api\.smartrecruiters\.com",
          r"/v1/companies/(?P<board>[^/]+)/postings/(?P<id>\d{9,})", _SMART_PAGE, fold=True),
    _rule("workable", r"apply\.workable\.com",
          r"(?:/(?P<board>[^/]+))?/j/(?P<id>[0-9A-Za-z]{6,})(?:/.*)?", _WORKABLE_PAGE),
    _rule("workable", r"(?!apply|jobs)(?P<board>[\w-]+)\.workable\.com",
          r"/j(?:obs)?/(?P<id>[0-9A-Fa-f]{10})(?:/.*)?", _WORKABLE_PAGE),
    _rule("recruitee", rf"{_SUB}\.recruitee\.com",
          r"(?:/l)?(?:/[a-z]{2})?/o/(?P<id>[^/]+)(?:/.*)?",
          "https://{board}.recruitee.com/o/{id}"),
    _rule("personio", rf"{_SUB}\.jobs\.personio\.[a-z]{{2,3}}", r"/job/(?P<id>\d+)(?:/.*)?",
          "https://{board}.jobs.personio.de/job/{id}"),
    _rule("teamtailor", r"(?P<board>[\w-]+(?:\.na)?)\.teamtailor\.com",
          rf"{_LANGUAGE}/jobs/(?P<id>\d+)(?:-[^/]*)?(?:/.*)?",
          "https://{board}.teamtailor.com/jobs/{id}"),
    _rule("jobvite", r"jobs\.jobvite\.com",
          r"(?:/careers)?/(?P<board>[^/]+)/job/(?P<id>\w+)(?:/.*)?",
          "https://jobs.jobvite.com/{board}/job/{id}"),
    _rule("bamboohr", rf"{_SUB}\.bamboohr\.com", r"/(?:careers|jobs)/(?P<id>\d+)(?:/.*)?",
          "https://{board}.bamboohr.com/careers/{id}"),
    _rule("bamboohr", rf"{_SUB}\.bamboohr\.com", r"/jobs/view\.php",
          "https://{board}.bamboohr.com/careers/{id}", id="id"),
    _rule("breezy", rf"{_SUB}\.breezy\.hr", r"/p/(?P<id>[0-9a-f]{8,})(?:-[^/]*)?(?:/.*)?",
          "https://{board}.breezy.hr/p/{id}"),
    _rule("jazzhr", rf"{_SUB}\.applytojob\.com",
          r"/apply/(?:jobs/details/)?(?P<id>[0-9A-Za-z]{8,12})(?:/.*)?",
          "https://{board}.applytojob.com/apply/{id}"),
    _rule("pinpoint", rf"{_SUB}\.pinpointhq\.com",
          rf"{_LANGUAGE}/postings/(?P<id>{_UUID})(?:/.*)?",
          "https://{board}.pinpointhq.com/postings/{id}", fold=True),
    _rule("rippling", r"ats\.rippling\.com",
          rf"{_LANGUAGE}/(?P<board>[^/]+)/jobs/(?P<id>{_UUID})(?:/.*)?",
          "https://ats.rippling.com/{board}/jobs/{id}"),
    _rule("icims", rf"{_SUB}\.icims\.com", r"/jobs/(?P<id>\d+)(?:/.*)?",
          "https://{board}.icims.com/jobs/{id}/job"),
    _rule("oracle", r"(?P<board>[\w.-]+)\.oraclecloud\.com",
          r"/hcmUI/CandidateExperience/[^/]+/sites/(?P<site>[^/]+)"
          r"/(?:requisitions/)?(?:job|preview)/(?P<id>\d+)(?:/.*)?",
          "https://{board}.oraclecloud.com/hcmUI/CandidateExperience/en/sites/{site}/job/{id}"),
    _rule("linkedin", r"(?:[a-z]{2,3}\.)?linkedin\.com",
          r"/jobs/view/(?:[^/]*-)?(?P<id>\d{6,})(?:/.*)?", "https://linkedin.com/jobs/view/{id}"),
    _rule("linkedin", r"(?:[a-z]{2,3}\.)?linkedin\.com", r"/jobs(?:/.*)?",
          "https://linkedin.com/jobs/view/{id}", id="currentJobId"),
    _rule("indeed", r"(?:[a-z]{2,3}\.)?indeed\.com", r".*",
          "https://indeed.com/viewjob?jk={id}", id="jk"),
    _rule("indeed", r"(?:[a-z]{2,3}\.)?indeed\.com", r".*",
          "https://indeed.com/viewjob?jk={id}", id="vjk"),
    # A company's own page that shows one posting of its board.
    _rule("greenhouse", r"(?P<host>.*)", r"(?P<path>.*)", "{root}{path}?gh_jid={id}", id="gh_jid"),
    _rule("ashby", r"(?P<host>.*)", r"(?P<path>.*)", "{root}{path}?ashby_jid={id}", id="ashby_jid"),
)  # fmt: skip


def _by_site() -> dict[str, list[_Rule]]:
    """The rules by the name before the host's ending ("lever"); "" for those of any host."""
    found: dict[str, list[_Rule]] = {}
    for rule in _RULES:
        site = re.search(r"(\w+)\\\.(?:\w+|\[.*)$", rule.host.pattern)
        found.setdefault(site[1] if site else "", []).append(rule)
    return found


_SITES: Final = _by_site()
# A query's value takes any text; an id never does.
_ID = re.compile(r"[\w.~-]{1,100}")


@dataclass(frozen=True, slots=True)
class _Parts:
    root: str
    host: str
    path: str
    query: tuple[tuple[str, str], ...]
    fragment: str


@lru_cache(maxsize=65_536)
def canonical(url: str) -> str:
    """The one URL of a page, whatever campaign, case or form it was linked with: a key to compare
    by, not a link to follow. Invalid where it is no http(s) URL."""
    parts = _parts(url)
    known = _known(parts)
    if known:
        return known[1]
    query = "&".join(f"{name}={value}" for name, value in parts.query)
    return f"{parts.root}{parts.path}{'?' if query else ''}{query}{parts.fragment}"


@lru_cache(maxsize=65_536)
def posting_key(url: str) -> tuple[str, str, str] | None:
    """Platform, board and the platform's own id, where the URL alone names a posting; the board is
    "" where the URL does not say it. Of Workday the id is the requisition, without a mirror's "-1"."""
    try:
        known = _known(_parts(url))
    except Invalid:
        return None
    return known[0] if known else None


@lru_cache(maxsize=65_536)
def page(url: str) -> tuple[str, str]:
    """Host, and what on it tells one posting from another: the path and the parameters that look
    like ids. Invalid as for `canonical`."""
    parts = _parts(canonical(url))
    query = "&".join(
        value
        for name, value in parts.query
        if _ID_NAME.fullmatch(name.lower()) or _ID_VALUE.fullmatch(value)
    )
    return parts.host, f"{parts.path}?{query}{parts.fragment}"


def is_specific(url: str) -> bool:
    """Whether the URL looks like one posting's and not like a list's or a site's."""
    if posting_key(url):
        return True
    last = page(url)[1].removesuffix("?").rsplit("/", 1)[-1]
    return bool(_ID_VALUE.fullmatch(last)) or last.count("-") >= 3


def lists_several(url: str) -> bool:
    """Whether the URL is that of a site or of its list: two postings may share it."""
    if posting_key(url):
        return False
    path = page(url)[1]
    return bool(_LIST.fullmatch(path.rsplit("/", 1)[-1].lower()))


def is_own_page(url: str) -> bool:
    """Whether a posting that names this page most likely has it for itself: it lies below another, is
    not called like a list, and no anchor says that it holds several."""
    parts = _parts(url)
    steps = [step for step in parts.path.split("/") if step]
    return (
        len(steps) >= 2
        and not _LIST.fullmatch(steps[-1].lower())
        and not urlsplit(url.strip()).fragment
    )


def differ_by_place(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two pages differ only in the last words of their names, as those of a site do that shows a
    posting once for each place. Numbers and codes are ids: those pages differ in more."""
    first, second = (page[1].removesuffix("?").split("-") for page in (one, other))
    steps = enumerate(zip(first, second, strict=False))
    common = next((at for at, (left, right) in steps if left != right), 0)
    tails = first[common:], second[common:]
    return (
        one[0] == other[0]
        and common >= 3
        and all(len(tail) <= 4 and re.search("[a-z]", "".join(tail)) for tail in tails)
        and all(re.fullmatch(r"[a-z]+|\d{1,2}", word) for tail in tails for word in tail)
    )


def domain(url: str) -> str:
    """The part of the host that somebody registered, as far as a short list can tell."""
    host = _parts(url).host
    labels = host.split(".")
    if host.startswith("[") or all(label.isdigit() for label in labels):
        return host
    return ".".join(labels[-3:] if _TWO_LEVELS.fullmatch(".".join(labels[-2:])) else labels[-2:])


def _known(parts: _Parts) -> tuple[tuple[str, str, str], str] | None:
    """The posting and its page, by the first rule that fits."""
    query = {name.lower(): value for name, value in reversed(parts.query)}
    site = parts.host.split(".")[-2:][0]
    for rule in (*_SITES.get(site, ()), *_SITES[""]):
        groups = _groups(rule, parts, query)
        if groups:
            board, id = groups.get("board", ""), groups["id"]
            return (rule.platform, board, id), rule.page.format_map({"eu": "", **groups})
    return None


def _groups(rule: _Rule, parts: _Parts, query: dict[str, str]) -> dict[str, str] | None:
    taken = {group: query.get(name.lower(), "") for group, name in rule.query}
    if not all(taken.values()):
        return None
    host, path = rule.host.fullmatch(parts.host), rule.path.fullmatch(parts.path)
    if not host or not path:
        return None
    groups = {**host.groupdict(default=""), **path.groupdict(default=""), **taken}
    if rule.fold:
        # Escapes keep their capitals: %C3, not %c3.
        groups = {name: _escape(text.lower()) for name, text in groups.items()}
    if rule.platform == "workable":
        groups["id"] = groups["id"].upper()
    groups["root"] = parts.root
    return groups if _ID.fullmatch(groups["id"]) else None


def _parts(url: str) -> _Parts:
    if len(url) > LONGEST:
        raise Invalid(f"a URL has at most {LONGEST} characters")
    try:
        split = urlsplit(url.strip())
        root, host = _root(split)
    except ValueError as error:  # UnicodeError, from a host that is no name, is one, too.
        raise Invalid(f"{url[:200]!r} is not a URL: {error}") from None
    fragment = split.fragment
    return _Parts(
        root, host, _path(split.path), _query(split.query), _route(fragment) if fragment else ""
    )


def _root(split: SplitResult) -> tuple[str, str]:
    """Scheme, host and port, and the host alone; the two schemes of a usual port are one."""
    if split.scheme not in ("http", "https"):
        raise ValueError("it does not begin with http:// or https://")
    host = split.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    else:
        host = host.rstrip(".").encode("idna").decode("ascii").lower().rstrip(".")
        while host.startswith("www.") and host.count(".") > 1:
            host = host.removeprefix("www.")
    if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\]", host):
        raise ValueError("it names no host")
    usual = split.port in (None, 80 if split.scheme == "http" else 443)
    return (f"https://{host}" if usual else f"{split.scheme}://{host}:{split.port}"), host


def _path(path: str) -> str:
    segments: list[str] = []
    for segment in re.sub(r"(?i);jsessionid=[^/]*", "", _escape(path)).split("/"):
        if segment == "..":
            segments = segments[:-1]
        elif segment not in ("", "."):
            segments.append(segment)
    return "/" + "/".join(segments)


def _query(query: str) -> tuple[tuple[str, str], ...]:
    """The parameters that are not tracking, sorted, none twice."""
    pairs = (pair.partition("=")[::2] for pair in query.replace("+", "%20").split("&") if pair)
    escaped = {(_escape(name, "="), _escape(value, "=")) for name, value in pairs}
    return tuple(sorted(pair for pair in escaped if not _TRACKING.fullmatch(pair[0])))


def _route(fragment: str) -> str:
    """A fragment that a page reads as a path ("#/item/7", "#!item"); any other is a place on it."""
    if not fragment.startswith(("/", "!")):
        return ""
    path, _, query = fragment.partition("?")
    kept = "&".join(f"{name}={value}" for name, value in _query(query))
    route = _escape(path).rstrip("/")
    return f"#{route}{'?' if kept else ''}{kept}" if route else ""


def _escape(text: str, also: str = "") -> str:
    """Each character in its one form: plain if it may be, %XX in capitals if not."""
    plain = "".join(
        char if char in _ALLOWED and char not in also else _percent(char) for char in text
    )
    return re.sub(r"%([0-9A-Fa-f]{2})?", _one_form, plain)


_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ALLOWED = _UNRESERVED | frozenset("%/!$'()*,;:@=")


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", errors="replace"))


def _one_form(escape: re.Match[str]) -> str:
    if not escape[1]:
        return "%25"
    char = chr(int(escape[1], 16))
    return char if char in _UNRESERVED else escape[0].upper()
