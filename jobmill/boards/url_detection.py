"""Recognises a board by its address alone."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from pydantic import ValidationError

from .adapters import BY_NAME, PLATFORMS
from .platform import Confidence, Groups, Platform, UrlPattern

FEED = "rss"
GENERIC = "html"
"""The two platforms that are no board: any feed, and any page with postings."""


@dataclass(frozen=True, slots=True)
class Found:
    """A board that was recognised."""

    platform: str
    token: str | None
    """None: the platform is sure, which of its boards is not."""
    confidence: Confidence
    evidence: str
    """In words: what was seen, and where."""
    config: dict[str, Any] | None = None
    """Ready for `Platform.config`; None without a token, and for a generic page, whose selectors
    are not known yet."""
    relation: Literal["own", "group"] = "own"
    """`group`: the board belongs to a parent, and holds the postings of others, too."""
    url: str = ""
    """The board's page for people."""


_NO_TOKENS = """
    embed js api v0 v1 v2 v3 jobs job careers career apply login search www app help robots.txt
    sitemap.xml favicon.ico static assets privacy terms widget widgets j o p company companies users
    user dashboard oneclick-ui ni wday"""
_NO_TENANTS = """
    accounts auth blog careers-analytics cdn cdn01 cdn02 cdn03 community developer developers
    docs documentation hire images info learn marketing marketplace media my partners platform
    portal resources scripts status support training"""
NO_TOKENS = frozenset(_NO_TOKENS.split())
"""Words that stand where a token would, and are none."""
NO_TENANTS = NO_TOKENS | frozenset(_NO_TENANTS.split())
"""Names below a vendor's domain that are the vendor's own."""
_PLACEHOLDER = re.compile(
    r"""[{}<>$*"`\\|^:;=,?#\[\]\x00-\x1f\x7f]|^[._%]|^your[\s_-]?(?:company|board|token|account|name)
    |^company[\s_-]?name$|^(?:example|undefined|null|none|clientname)$
    |\.(?:js|css|png|jpe?g|gif|svg|ico|xml|txt|html?|php|aspx?|json|webmanifest|woff2?)$""",
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST_URL = 4096
_LONGEST_HOST = 253
_LONGEST_TOKEN = 100
_ESCAPES = (("\\/", "/"), ("\\u002F", "/"), ("\\u002f", "/"), ("\\u0026", "&"), ("\\u003D", "="))
_SCHEME = re.compile(r"^([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_BARE_HOST = re.compile(r"^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+\.?(?::\d+)?(?:[/?#]|$)", re.IGNORECASE)
_BLANKS = re.compile(r"[\x00-\x20\x7f]+")

# Where people see a board whose address we may know from an API or an embed.
_PAGES = {
    "greenhouse": "https://job-boards.{dot_region}greenhouse.io/{board_token}",
    "lever": "https://jobs.{dot_region}lever.co/{board_token}",
    "ashby": "https://jobs.ashbyhq.com/{board_token}",
    "smartrecruiters": "https://careers.smartrecruiters.com/{board_token}",
    "workable": "https://apply.workable.com/{board_token}/",
    "rippling": "https://ats.rippling.com/{board_token}/jobs",
    "bamboohr": "https://{board_token}.bamboohr.com/careers",
    "workday": "{base_url}/{site}",
    "oracle": "{base_url}/hcmUI/CandidateExperience/en/sites/{site}",
}


def unescape(text: str) -> str:
    """The text without the escapes that HTML and JSON put into URLs."""
    for escaped, plain in _ESCAPES:
        if escaped in text:
            text = text.replace(escaped, plain)
    return html.unescape(text) if "&" in text else text


def split(url: str) -> SplitResult | None:
    """The URL as a browser would understand it, host in small letters; None if it is no web URL."""
    url = _BLANKS.sub("", unescape(url[:_LONGEST_URL])).replace("\\", "/")
    if url.startswith("//"):
        url = f"https:{url}"
    elif _BARE_HOST.match(url):
        url = f"https://{url}"
    scheme = _SCHEME.match(url)
    if not scheme or scheme[1].lower() not in {"http", "https"}:
        return None
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return None
    return parts._replace(netloc=host) if 0 < len(host) <= _LONGEST_HOST else None


def from_url(url: str) -> Found | None:
    """The board that an address gives away; also one inside a redirect's or a share's address."""
    parts = split(url)
    if parts is None:
        return None
    return _match(parts) or _wrapped(parts)


def vendor_host(host: str) -> bool:
    """Whether a host belongs to a platform."""
    return any(domain in _BY_DOMAIN for domain in _domains(host))


def make(
    platform: Platform, groups: Groups, evidence: str, *, confidence: Confidence | None = None
) -> Found | None:
    """What the groups of a pattern stand for; None where a token is no token after all."""
    tenant = groups.get("tenant") or groups.get("token")
    if tenant is not None and not _is_token(tenant):
        return None
    config = _config(platform, groups)
    if config is None:
        return Found(platform.name, None, "medium", evidence)
    try:
        token = platform.token(platform.config.model_validate(config))
    except ValidationError:
        return None
    return Found(
        platform.name,
        token,
        confidence or platform.confidence,
        evidence,
        config,
        url=_page(platform.name, config, groups),
    )


def board(platform: str, token: str, evidence: str, confidence: Confidence) -> Found | None:
    """The board of a bare token, for the platforms where a token is all there is to know."""
    return make(BY_NAME[platform], {"token": token, "host": ""}, evidence, confidence=confidence)


def _match(parts: SplitResult) -> Found | None:
    host, path = parts.netloc, parts.path
    query: Groups | None = None
    unsure: Found | None = None
    for platform, pattern in _candidates(host):
        by_host, by_path = pattern.host.search(host), pattern.path.search(path)
        if not by_host or not by_path:
            continue
        if pattern.query and query is None:
            query = _query(parts.query)
        if pattern.query and not all(name.lower() in (query or {}) for name in pattern.query):
            continue
        groups = _groups(pattern, by_host, by_path, query or {})
        if groups.get("token", "").lower() in NO_TENANTS and "token" in by_host.groupdict():
            continue
        groups["host"] = host
        groups["page"] = f"https://{host}{path[: by_path.end()]}"
        found = make(platform, groups, f"the address: {host}{path[: by_path.end()]}"[:200])
        if found and found.token:
            return found
        unsure = unsure or found
    return unsure


def _groups(
    pattern: UrlPattern, by_host: re.Match[str], by_path: re.Match[str], query: Groups
) -> Groups:
    groups = {**by_host.groupdict(), **by_path.groupdict()}
    named = {name: unquote(value).strip() for name, value in groups.items() if value}
    return named | {name: query[name.lower()].strip() for name in pattern.query}


def _query(query: str) -> Groups:
    """Parameters by small name; the first of each, as servers do."""
    try:
        pairs = parse_qsl(query, max_num_fields=200)
    except ValueError:
        return {}
    return {name.lower(): value for name, value in reversed(pairs) if value}


def _wrapped(parts: SplitResult) -> Found | None:
    if "http" not in parts.query.lower():
        return None
    for value in _query(parts.query).values():
        inner = split(value) if value[:4].lower() == "http" else None
        found = _match(inner) if inner else None
        if found:
            return found
    return None


def _is_token(token: str) -> bool:
    return (
        len(token) <= _LONGEST_TOKEN
        and token.lower() not in NO_TOKENS
        and not _PLACEHOLDER.search(token)
        and any(letter.isalnum() for letter in token)
    )


def _config(platform: Platform, groups: Groups) -> dict[str, Any] | None:
    if platform.config_from:
        return platform.config_from(groups)
    if "token" not in groups:
        return None
    known = platform.config.model_fields
    return {"board_token": groups["token"]} | {
        name: value for name, value in groups.items() if name in known
    }


def _page(platform: str, config: dict[str, Any], groups: Groups) -> str:
    page = _PAGES.get(platform)
    if page is None:
        return groups.get("page", "")
    if str(config.get("base_url", "")).endswith("myworkdaysite.com"):
        page = page.replace("/{site}", "/recruiting/{company_id}/{site}")
    region = config.get("region")
    quoted = {name: quote(str(part), safe="/:") for name, part in config.items()}
    return page.format_map(quoted | {"dot_region": f"{region}." if region else ""})


def _candidates(host: str) -> list[tuple[Platform, UrlPattern]]:
    for domain in _domains(host):
        if domain in _BY_DOMAIN:
            return _BY_DOMAIN[domain]
    return _ANYWHERE


def _domains(host: str) -> list[str]:
    labels = host.rsplit(".", 3)[-3:]
    return [".".join(labels[start:]) for start in range(len(labels) - 1)]


def _index() -> dict[str, list[tuple[Platform, UrlPattern]]]:
    index: dict[str, list[tuple[Platform, UrlPattern]]] = {}
    for platform in PLATFORMS:
        for pattern in platform.urls:
            index.setdefault(pattern.domain, []).append((platform, pattern))
    return index


# Patterns by the domain they are about: a URL is tried against a handful, not against all.
_BY_DOMAIN = _index()
_ANYWHERE = _BY_DOMAIN.pop("", [])
