"""Parse HTML pages of job boards, and read the posting in their JSON-LD."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.catalog import urls
from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid, OutsideError
from jobmill.extract import lenient_models

from .fields import html_text
from .page import json_ld, nesting_limit
from .page.schema_job_posting import posting_from_schema
from .page.text_checks import absolute_url


def parse_html(body: bytes) -> LexborHTMLParser:
    """Parse a page; OutsideError for one nested so deeply that parsing would take minutes."""
    html = lenient_models.decode_page(body).encode("utf-8", "replace")
    if len(nesting_limit.truncate_deep_html(html)) < len(html):
        raise OutsideError("the page is nested too deeply", permanent=True)
    return LexborHTMLParser(html)


def find_links(
    tree: LexborHTMLParser, url: str, limit: int | None = None
) -> Iterator[tuple[str, LexborNode]]:
    """The links of a page as absolute URLs without fragments, and their elements. Links that cannot be
    requested are left out: a page may link to anything."""
    for node in tree.css("a[href]")[:limit]:
        target = absolute_url(node.attributes.get("href") or "", url)
        target = target.partition("#")[0] if target else ""
        if target and _is_valid(target):
            yield target, node


def _is_valid(url: str) -> bool:
    try:
        urls.parse(url)
    except Invalid:
        return False
    return True


def find_json_ld_posting(page: LexborHTMLParser, url: str, department: str = "") -> Posting | None:
    """The posting in the JSON-LD of a page; None if it has none or several. `department` is the key
    under which the vendor puts the department."""
    postings = [
        (posting, node)
        for node in json_ld.find_job_postings(page.css("script"))
        if (posting := posting_from_schema(node, url))
    ]
    if len(postings) != 1:
        return None
    posting, node = postings[0]
    return replace(
        posting, department=posting.department or html_text.single_line(node.get(department))
    )


def read_json_ld_posting(body: bytes, url: str, department: str = "") -> Posting:
    """Like `find_json_ld_posting`, but raises OutsideError if the page has no posting."""
    posting = find_json_ld_posting(parse_html(body), url, department)
    if posting is None:
        raise OutsideError(
            "the page has no posting in its JSON-LD; it may be closed", permanent=True
        )
    return posting
