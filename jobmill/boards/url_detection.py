"""Detects a board by its URL alone."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from pydantic import ValidationError

from jobmill.catalog import sources
from jobmill.catalog.sources import Source
from jobmill.db import Tx

from .adapters import BY_NAME, PLATFORMS
from .platform import BoardUrl, Confidence, Platform, UrlGroups

FEED = "rss"
GENERIC = "html"
"""The two platforms that are not boards: any feed, and any page with postings."""


@dataclass(frozen=True, slots=True)
class DetectedBoard:
    platform: str
    token: str | None
    """None: the platform is certain, but not which of its boards."""
    confidence: Confidence
    evidence: str
    """For people: what was found, and where."""
    config: dict[str, Any] | None = None
    """Ready for `Platform.parse_config`; None without a token, and for a generic page without
    selectors."""
    relation: Literal["own", "group"] = "own"
    """`group`: the board belongs to a parent company and lists postings of other companies, too."""
    url: str = ""
    """The board's page for people."""


_RESERVED_WORDS = """
    embed js api v0 v1 v2 v3 jobs job careers career apply login search www app help robots.txt
    sitemap.xml favicon.ico static assets privacy terms widget widgets j o p company companies users
    user dashboard oneclick-ui ni wday"""
_RESERVED_SUBDOMAINS = """
    accounts auth blog careers-analytics cdn cdn01 cdn02 cdn03 community developer developers
    docs documentation hire images info learn marketing marketplace media my partners platform
    portal resources scripts status support training"""
RESERVED_WORDS = frozenset(_RESERVED_WORDS.split())
"""Words in the place of a token that are not tokens."""
RESERVED_SUBDOMAINS = RESERVED_WORDS | frozenset(_RESERVED_SUBDOMAINS.split())
"""Subdomains that platforms use themselves."""
_PLACEHOLDER = re.compile(
    r"""[{}<>$*"`\\|^:;=,?#\[\]\x00-\x1f\x7f]|^[._%]|^your[\s_-]?(?:company|board|token|account|name)
    |^company[\s_-]?name$|^(?:example|undefined|null|none|clientname)$
    |\.(?:js|css|png|jpe?g|gif|svg|ico|xml|txt|html?|php|aspx?|json|webmanifest|woff2?)$""",
    re.IGNORECASE | re.VERBOSE,
)
_MAX_URL_LENGTH = 4096
_MAX_HOST_LENGTH = 253
_MAX_TOKEN_LENGTH = 100
_ESCAPES = (("\\/", "/"), ("\\u002F", "/"), ("\\u002f", "/"), ("\\u0026", "&"), ("\\u003D", "="))
_SCHEME = re.compile(r"^([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_BARE_HOST = re.compile(r"^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+\.?(?::\d+)?(?:[/?#]|$)", re.IGNORECASE)
_BLANKS = re.compile(r"[\x00-\x20\x7f]+")


def _unescape(text: str) -> str:
    """The text without the escapes of HTML and JSON."""
    for escaped, plain in _ESCAPES:
        if escaped in text:
            text = text.replace(escaped, plain)
    return html.unescape(text) if "&" in text else text


def split_url(url: str) -> SplitResult | None:
    """The URL as a browser understands it, with the host in lower case; None if it is not a web URL."""
    url = _BLANKS.sub("", _unescape(url[:_MAX_URL_LENGTH])).replace("\\", "/")
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
    return parts._replace(netloc=host) if 0 < len(host) <= _MAX_HOST_LENGTH else None


def detect_board(url: str) -> DetectedBoard | None:
    """The board that a URL names, or that the target of a redirect or share link names."""
    parts = split_url(url)
    if parts is None:
        return None
    return _match(parts) or _match_wrapped(parts)


async def find_source(tx: Tx, url: str) -> Source | None:
    """The source of the board that the URL names, or else the only source on the URL's domain."""
    board = detect_board(url)
    key = (board.platform, board.token) if board and board.token else None
    return await sources.find_by_url(tx, url, board=key)


def may_name_board(url: str) -> bool:
    """Whether a URL is worth matching: it belongs to a platform, or contains what names a board on any
    host."""
    host = re.split(r"[/?#:]", url.removeprefix("//"), maxsplit=1)[0].lower().rpartition("@")[2]
    return _is_platform_host(host.rstrip(".")) or any(text in url for text in _ON_ANY_HOST)


def board_from_token(
    platform: str, token: str, evidence: str, confidence: Confidence
) -> DetectedBoard | None:
    """The board with this token, for platforms that need nothing else."""
    groups = {"token": token, "host": ""}
    return _board(BY_NAME[platform], groups, evidence, confidence)


def _board(
    platform: Platform, groups: UrlGroups, evidence: str, confidence: Confidence | None = None
) -> DetectedBoard | None:
    """The board that the groups of a pattern name; None where a token turns out to be none."""
    tenant = groups.get("tenant") or groups.get("token")
    if tenant is not None and not _is_token(tenant):
        return None
    config = _config(platform, groups)
    if config is None:
        return DetectedBoard(platform.name, None, "medium", evidence)
    try:
        token = platform.token(platform.config.model_validate(config))
    except ValidationError:
        return None
    url = _page(platform, config, groups)
    confidence = confidence or platform.confidence
    return DetectedBoard(platform.name, token, confidence, evidence, config, url=url)


def _match(parts: SplitResult) -> DetectedBoard | None:
    host, path = parts.netloc, parts.path
    query: UrlGroups | None = None
    without_token: DetectedBoard | None = None
    for platform, pattern in _candidates(host):
        in_host, in_path = pattern.host.search(host), pattern.path.search(path)
        if not in_host or not in_path:
            continue
        if pattern.query and query is None:
            query = _query(parts.query)
        if pattern.query and not all(name.lower() in (query or {}) for name in pattern.query):
            continue
        groups = _groups(pattern, in_host, in_path, query or {})
        if (
            groups.get("token", "").lower() in RESERVED_SUBDOMAINS
            and "token" in in_host.groupdict()
        ):
            continue
        groups["host"] = host
        groups["page"] = f"https://{host}{path[: in_path.end()]}"
        board = _board(platform, groups, f"the URL: {host}{path[: in_path.end()]}"[:200])
        if board and board.token:
            return board
        without_token = without_token or board
    return without_token


def _groups(
    pattern: BoardUrl, in_host: re.Match[str], in_path: re.Match[str], query: UrlGroups
) -> UrlGroups:
    groups = {**in_host.groupdict(), **in_path.groupdict()}
    decoded = {name: unquote(value).strip() for name, value in groups.items() if value}
    return decoded | {name: query[name.lower()].strip() for name in pattern.query}


def _query(query: str) -> UrlGroups:
    """Parameters by name in lower case; the first of each, as servers do."""
    try:
        pairs = parse_qsl(query, max_num_fields=200)
    except ValueError:
        return {}
    return {name.lower(): value for name, value in reversed(pairs) if value}


def _match_wrapped(parts: SplitResult) -> DetectedBoard | None:
    """The board of a URL inside a query parameter."""
    if "http" not in parts.query.lower():
        return None
    for value in _query(parts.query).values():
        inner = split_url(value) if value[:4].lower() == "http" else None
        board = _match(inner) if inner else None
        if board:
            return board
    return None


def _is_token(token: str) -> bool:
    return (
        len(token) <= _MAX_TOKEN_LENGTH
        and token.lower() not in RESERVED_WORDS
        and not _PLACEHOLDER.search(token)
        and any(letter.isalnum() for letter in token)
    )


def _config(platform: Platform, groups: UrlGroups) -> dict[str, Any] | None:
    if platform.config_from_url:
        return platform.config_from_url(groups)
    if "token" not in groups:
        return None
    fields = platform.config.model_fields
    return {"board_token": groups["token"]} | {
        name: value for name, value in groups.items() if name in fields
    }


def _page(platform: Platform, config: dict[str, Any], groups: UrlGroups) -> str:
    page = platform.board_page
    template = page if isinstance(page, str) else page(config)
    if not template:
        return groups.get("page", "")
    region = config.get("region")
    quoted = {name: quote(str(part), safe="/:") for name, part in config.items()}
    return template.format_map(quoted | {"dot_region": f"{region}." if region else ""})


def _is_platform_host(host: str) -> bool:
    return any(domain in _BY_DOMAIN for domain in _domains(host))


def _candidates(host: str) -> list[tuple[Platform, BoardUrl]]:
    for domain in _domains(host):
        if domain in _BY_DOMAIN:
            return _BY_DOMAIN[domain]
    return _ANYWHERE


def _domains(host: str) -> list[str]:
    labels = host.rsplit(".", 3)[-3:]
    return [".".join(labels[start:]) for start in range(len(labels) - 1)]


def _index() -> dict[str, list[tuple[Platform, BoardUrl]]]:
    index: dict[str, list[tuple[Platform, BoardUrl]]] = {}
    for platform in PLATFORMS:
        for pattern in platform.board_urls:
            index.setdefault(pattern.domain, []).append((platform, pattern))
    return index


# Patterns by domain, so that a URL is matched against a few of them only.
_BY_DOMAIN = _index()
_ANYWHERE = _BY_DOMAIN.pop("", [])
# "=http": the URL of a board inside a redirect.
_ON_ANY_HOST = ("=http", *(pattern.contains for _, pattern in _ANYWHERE if pattern.contains))
