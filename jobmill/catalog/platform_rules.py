"""What the identity of a listing depends on at each platform: its posting URLs and what its ids mean.

The rules of a platform stand in its adapter; `boards.adapters.PLATFORM_RULES` holds all of them. The
functions of this package that need them take them as a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from jobmill.errors import Invalid

from . import urls
from .urls import UUID, UrlParts

# Parts of the patterns of posting URLs.
ID_UUID: Final = rf"(?P<id>{UUID})"
LANGUAGE: Final = r"(?:/[a-zA-Z]{2}(?:[-_][a-zA-Z]{2})?)?"
SUBDOMAIN: Final = r"(?P<board>[\w-]+)"

# A query parameter may hold any text; an id may not.
_ID: Final = re.compile(r"[\w.~-]{1,100}")
_CACHED_URLS: Final = 65_536


class PostingKey(NamedTuple):
    """A posting as its platform names it."""

    platform: str
    board: str
    """Empty where the URL does not contain it."""
    id: str
    """At Workday the requisition, without the "-1" of a copy in another place."""


@dataclass(frozen=True, slots=True)
class PostingUrl:
    """A form of a platform's posting URLs. Host and path must match as a whole; their named groups
    and the query parameters fill in `page`."""

    host: re.Pattern[str]
    path: re.Pattern[str]
    page: str
    """The canonical URL; everything it leaves out is decoration."""
    query: tuple[tuple[str, str], ...] = ()
    """Group names and the query parameters that hold them; all must be present."""
    lowercase: bool = False
    """Whether the platform ignores case; every group is then written in lower case."""
    uppercase_id: bool = False


def posting_url(
    host: str,
    path: str,
    page: str,
    *,
    lowercase: bool = False,
    uppercase_id: bool = False,
    **query: str,
) -> PostingUrl:
    """A rule from patterns as text; `id="token"` means that the query parameter `token` is the id."""
    return PostingUrl(
        re.compile(host), re.compile(path), page, tuple(query.items()), lowercase, uppercase_id
    )


@dataclass(frozen=True, slots=True)
class PostingIds:
    """How one platform identifies its postings."""

    urls: tuple[PostingUrl, ...] = ()
    unique: bool = False
    """No two boards of the platform use the same id."""
    ignore_case: bool = False
    """Boards and ids mean the same in upper and lower case."""
    aggregator: bool = False
    """The platform republishes postings of other sites."""


def posting_ids(*urls: PostingUrl, **properties: bool) -> PostingIds:
    return PostingIds(urls, **properties)


class PlatformRules:
    """The rules of a set of platforms; without platforms, only the general rules for URLs apply."""

    def __init__(self, platforms: Mapping[str, PostingIds] | None = None) -> None:
        self._platforms = dict(platforms or {})
        self._urls_by_site: dict[str, list[tuple[str, PostingUrl]]] = {"": []}
        for platform, ids in self._platforms.items():
            for rule in ids.urls:
                self._urls_by_site.setdefault(_site(rule), []).append((platform, rule))
        self.canonical = lru_cache(maxsize=_CACHED_URLS)(self._canonical)
        self.posting_key = lru_cache(maxsize=_CACHED_URLS)(self._posting_key)
        self.page = lru_cache(maxsize=_CACHED_URLS)(self._page)

    def ids(self, platform: str | None) -> PostingIds:
        return self._platforms.get(platform or "", PostingIds())

    def _canonical(self, url: str) -> str:
        """The same URL for every form of a page: without tracking parameters, in one case and order.
        Compare pages by it, but do not link to it. Raises Invalid for anything but http(s) URLs."""
        parts = urls.parse(url)
        match = self._match(parts)
        canonical = match[1] if match else parts.join()
        return urls.parse(canonical).without_repeated_id().join() if parts.query else canonical

    def _posting_key(self, url: str) -> PostingKey | None:
        """The posting that the URL names by itself; None where it names none."""
        try:
            match = self._match(urls.parse(url))
        except Invalid:
            return None
        return match[0] if match else None

    def is_named_by_path(self, url: str) -> bool:
        """Whether the id of the posting is in the path, and a parameter only repeats it."""
        parts = urls.parse(url)
        return parts.without_repeated_id() != parts

    def _page(self, url: str) -> tuple[str, str]:
        """The host, and what distinguishes a posting on it: the path and the parameters that look
        like ids. Raises Invalid as `canonical` does."""
        return urls.page(self.canonical(url))

    def is_specific(self, url: str) -> bool:
        """Whether the URL looks like that of one posting rather than of a list or a site."""
        return bool(self.posting_key(url)) or urls.names_a_posting(self.page(url))

    def lists_several(self, url: str) -> bool:
        """Whether the URL is that of a site or a list, which several postings may share."""
        return not self.posting_key(url) and urls.names_a_list(self.page(url))

    def _match(self, parts: UrlParts) -> tuple[PostingKey, str] | None:
        """The posting and its canonical URL, by the first rule that fits."""
        query = {name.lower(): value for name, value in reversed(parts.query)}
        site = parts.host.split(".")[-2:][0]
        for platform, rule in (*self._urls_by_site.get(site, ()), *self._urls_by_site[""]):
            groups = _groups(rule, parts, query)
            if groups:
                key = PostingKey(platform, groups.get("board", ""), groups["id"])
                return key, rule.page.format_map({"eu": "", **groups})
        return None


def _site(rule: PostingUrl) -> str:
    """The name before the top-level domain ("lever"); empty for a rule that fits any host."""
    site = re.search(r"(\w+)\\\.(?:\w+|\[.*)$", rule.host.pattern)
    return site[1] if site else ""


def _groups(rule: PostingUrl, parts: UrlParts, query: dict[str, str]) -> dict[str, str] | None:
    in_query = {group: query.get(name.lower(), "") for group, name in rule.query}
    if not all(in_query.values()):
        return None
    host, path = rule.host.fullmatch(parts.host), rule.path.fullmatch(parts.path)
    if not host or not path:
        return None
    groups = {**host.groupdict(default=""), **path.groupdict(default=""), **in_query}
    if rule.lowercase:
        # Escapes keep their capitals: %C3, not %c3.
        groups = {name: urls.escape(text.lower()) for name, text in groups.items()}
    if rule.uppercase_id:
        groups["id"] = groups["id"].upper()
    groups["root"] = parts.root
    return groups if _ID.fullmatch(groups["id"]) else None
