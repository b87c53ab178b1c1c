"""Check postings against the profile's stop lists, before anything is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from jobmill.catalog import company_names
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.matching.profile import Profile
from jobmill.matching.verdict import Rejection
from jobmill.plain_text import fold_case


def find_rejection(
    profile: Profile,
    platforms: PlatformRules,
    *,
    url: str,
    title: str | None = None,
    company: str | None = None,
) -> Rejection | None:
    """The first stop list entry that rejects a posting, using only what its link tells."""
    rejections = find_rejections(profile, platforms, urls=(url,), title=title, company=company)
    return next(iter(rejections), None)


def find_rejections(
    profile: Profile,
    platforms: PlatformRules,
    *,
    urls: Iterable[str],
    title: str | None = None,
    company: str | None = None,
) -> tuple[Rejection, ...]:
    """All rejections: by company, domain and keyword."""
    links = [url for url in urls if url]
    boards = [key.board for link in links if (key := platforms.posting_key(link))]
    rejections = [
        _company(profile, [company, *boards]),
        *(_domain(profile, link) for link in links),
    ]
    for keyword in profile.stop_lists.keywords:
        rejections.append(_keyword(keyword, title or "", links))
    return tuple(dict.fromkeys(rejection for rejection in rejections if rejection))


def _company(profile: Profile, names: Sequence[str | None]) -> Rejection | None:
    """Check the company's name and the board in the link, which is usually named after the company."""
    for excluded in profile.stop_lists.companies:
        for name in names:
            if name and company_names.same_company(name, excluded):
                return Rejection("excluded_company", f"Excluded company: {excluded}", name)
    return None


def _domain(profile: Profile, link: str) -> Rejection | None:
    host = _host(link)
    for domain in profile.stop_lists.domains:
        if host == domain or host.endswith(f".{domain}"):
            return Rejection("excluded_domain", f"Excluded domain: {domain}", link)
    return None


def _host(link: str) -> str:
    try:
        return (urlsplit(link).hostname or "").rstrip(".").lower()
    except ValueError:
        return ""


def _keyword(keyword: str, title: str, links: list[str]) -> Rejection | None:
    in_title, in_link = _patterns(fold_case(keyword))
    if in_title.search(fold_case(title)):
        return Rejection("excluded_keyword", f"Excluded keyword: {keyword}", title)
    for link in links:
        if in_link.search(fold_case(unquote(link))):
            return Rejection("excluded_keyword", f"Excluded keyword: {keyword}", link)
    return None


@lru_cache(maxsize=4_096)
def _patterns(keyword: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    r"""Patterns for a keyword in a title and in a link. \b does not work: "c++" and ".net" start or
    end with punctuation, and "c" must not match "c++". In a link, any punctuation separates
    words."""
    words = [re.escape(word) for word in re.split(r"[\s_-]+", keyword) if word] or [
        re.escape(keyword)
    ]
    before, after = r"(?<![^\W_])", r"(?![^\W_])"
    title = rf"{before}(?<![.#+@])" if keyword[0].isalnum() else before
    return (
        re.compile(title + r"[\s_-]+".join(words) + after + r"(?![+#]|\.[^\W_])"),
        re.compile(before + r"[\W_]+".join(words) + after + r"(?!\+\+|[\W_]plus[\W_]plus)"),
    )
