"""The structured data of a site: how complete it is, and where it contradicts the job board."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from jobmill.catalog import job_titles, urls
from jobmill.catalog.posting import Salary, format_salary
from jobmill.errors import Invalid
from jobmill.extract.company.page_sections import PageSections
from jobmill.extract.page import json_ld, lenient_json, nesting_limit
from jobmill.extract.page.schema_job_posting import SchemaNode, posting_from_schema
from jobmill.places import place_comparison

from .findings import Contradiction, CrawledPage, Evidence, StructuredData
from .known_postings import KnownPosting, PostingFields, fields_of_posting
from .site_text import MAX_PAGE_LENGTH, quote_text

ORGANIZATION_FIELDS = (
    "name", "url", "logo", "description", "address", "sameAs", "foundingDate", "numberOfEmployees",
)  # fmt: skip
POSTING_FIELDS = (
    "title", "description", "datePosted", "validThrough", "hiringOrganization", "jobLocation",
    "baseSalary", "employmentType", "identifier",
)  # fmt: skip
"""What Google requires or recommends; `jobLocation` may be `applicantLocationRequirements`."""
MAX_CONTRADICTIONS = 200
MAX_DAYS_APART = 1
"""Dates this close are the same day in different time zones."""
_MAX_POSTINGS_PER_PAGE = 100
_SELF_RATING = "EmployerAggregateRating"


@dataclass(frozen=True, slots=True)
class _PostingNode:
    page: str
    node: SchemaNode
    fields: PostingFields


def analyze_structured_data(
    pages: Sequence[CrawledPage],
    sections: Sequence[PageSections],
    postings: Sequence[KnownPosting],
    llms_txt: str | None,
) -> StructuredData:
    """`llms_txt` is the URL of the site's llms.txt, if it has one."""
    organizations = [(page.url, node) for page in sections for node in page.organizations]
    nodes = [node for page in pages for node in _posting_nodes(page)]
    matches = _match(postings, nodes)
    own_nodes = list({id(match): match for match in matches.values()}.values()) or nodes
    missing = Counter(name for node in own_nodes for name in _missing_posting_fields(node.node))
    return StructuredData(
        organization_pages=tuple(dict.fromkeys(url for url, _ in organizations)),
        missing_organization_fields=_missing_organization_fields(node for _, node in organizations),
        postings=len(postings),
        postings_with_data=len(matches) if postings else len(nodes),
        missing_posting_fields=tuple(missing.most_common()),
        contradictions=tuple(_contradictions(postings, matches))[:MAX_CONTRADICTIONS],
        self_rating=_find_self_rating(pages),
        llms_txt=llms_txt,
    )


def _parse(page: CrawledPage) -> LexborHTMLParser:
    content = (page.rendered_html or page.html)[:MAX_PAGE_LENGTH].encode("utf-8", "replace")
    return LexborHTMLParser(nesting_limit.truncate_deep_html(content))


def _posting_nodes(page: CrawledPage) -> Iterator[_PostingNode]:
    if "JobPosting" not in (page.rendered_html or page.html):
        return
    nodes = json_ld.find_job_postings(_parse(page).css("script"))
    for node in nodes[:_MAX_POSTINGS_PER_PAGE]:
        if posting := posting_from_schema(node, page.url):
            yield _PostingNode(page.url, node, fields_of_posting(posting))


def _match(
    postings: Sequence[KnownPosting], nodes: Sequence[_PostingNode]
) -> dict[int, _PostingNode]:
    """The structured data of each posting, by the posting's position: the same address, or else the
    same title if only one posting and one page have it."""
    by_url = {key: node for node in nodes for key in _keys(node.page, node.fields.url)}
    titles = Counter(_title(posting.title) for posting in postings)
    node_titles = Counter(_title(node.fields.title) for node in nodes)
    by_title = {_title(node.fields.title): node for node in nodes}
    matches: dict[int, _PostingNode] = {}
    for position, posting in enumerate(postings):
        keys = _keys(posting.url, *posting.other_urls)
        match = next((by_url[key] for key in keys if key in by_url), None)
        title = _title(posting.title)
        if match is None and titles[title] == 1 and node_titles[title] == 1:
            match = by_title[title]
        if match:
            matches[position] = match
    return matches


def _keys(*addresses: str) -> list[str]:
    keys: list[str] = []
    for address in addresses:
        try:
            keys.append(urls.parse(address).join())
        except Invalid:
            continue
    return keys


def _title(title: str) -> tuple[str, ...]:
    return tuple(job_titles.parse_title(title).words)


def _missing_organization_fields(nodes: Iterable[SchemaNode]) -> tuple[str, ...]:
    """The fields that none of the site's organizations states."""
    organizations = list(nodes)
    if not organizations:
        return ORGANIZATION_FIELDS
    return tuple(
        name for name in ORGANIZATION_FIELDS if not any(node.get(name) for node in organizations)
    )


def _missing_posting_fields(node: Mapping[str, Any]) -> list[str]:
    missing = [name for name in POSTING_FIELDS if not node.get(name)]
    if "jobLocation" in missing and node.get("applicantLocationRequirements"):
        missing.remove("jobLocation")
    return missing


def _contradictions(
    postings: Sequence[KnownPosting], matches: Mapping[int, _PostingNode]
) -> Iterator[Contradiction]:
    for position, posting in enumerate(postings):
        match = matches.get(position)
        on_site = match.fields if match else posting.on_site
        if on_site:
            yield from compare_fields(on_site, posting)


def compare_fields(on_site: PostingFields, on_board: PostingFields) -> Iterator[Contradiction]:
    """Where both state a field and the statements cannot both be true."""
    url = on_board.url
    if not _is_same_title(on_site.title, on_board.title):
        yield Contradiction(url, "title", on_site.title, on_board.title)
    if on_site.place and on_board.place:
        first, second = (
            place_comparison.read_places((place,)) for place in (on_site.place, on_board.place)
        )
        if place_comparison.compare(first, second) == "other":
            yield Contradiction(url, "place", on_site.place, on_board.place)
    if on_site.pay and on_board.pay and _is_other_pay(on_site.pay, on_board.pay):
        yield Contradiction(url, "pay", _format(on_site.pay), _format(on_board.pay))
    if _are_other_days(on_site.posted_on, on_board.posted_on):
        yield Contradiction(url, "date", str(on_site.posted_on), str(on_board.posted_on))


def _are_other_days(first: dt.date | None, second: dt.date | None) -> bool:
    return bool(first and second and abs((first - second).days) > MAX_DAYS_APART)


def _is_same_title(first: str, second: str) -> bool:
    """Whether the words are equal, or one title only adds words to the other: a place or a team."""
    words, others = set(_title(first)), set(_title(second))
    return not words or not others or words <= others or others <= words


def _is_other_pay(first: Salary, second: Salary) -> bool:
    if first.currency and second.currency and first.currency != second.currency:
        return True
    if first.period and second.period and first.period != second.period:
        return False
    lows = (first.min, second.min)
    highs = (first.max, second.max)
    return any(
        amount is not None
        and other_amount is not None
        and abs(amount - other_amount) > 0.01 * max(amount, other_amount)
        for amount, other_amount in (lows, highs)
    )


def _format(pay: Salary) -> str:
    return format_salary(pay.min, pay.max, pay.currency, pay.period) or "no amount"


def _find_self_rating(pages: Sequence[CrawledPage]) -> Evidence | None:
    for page in pages:
        if _SELF_RATING not in (page.rendered_html or page.html):
            continue
        tree = _parse(page)
        for script in tree.css('script[type*="ld+json"]'):
            text = script.text()
            if _SELF_RATING in text and lenient_json.parse_values(text):
                at = text.index(_SELF_RATING)
                return Evidence(quote_text(text[max(0, at - 20) : at + 200]), page.url)
        if tree.css_first(f'[itemtype$="{_SELF_RATING}"]'):
            return Evidence(f"itemtype {_SELF_RATING}", page.url)
    return None
