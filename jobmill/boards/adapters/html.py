"""Careers pages: any page that lists postings, read by CSS selectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal
from urllib.parse import urldefrag, urlsplit

from pydantic import AfterValidator, Field
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid, OutsideError
from jobmill.extract import html_tree, lenient_models
from jobmill.extract.fields import dates, html_text, salary
from jobmill.extract.page import page_reader
from jobmill.extract.page.text_checks import absolute_url
from jobmill.outside.request import Request

from ..platform import BoardPage, Config, Platform


def _check_selector(css: str) -> str:
    try:
        LexborHTMLParser("").css(css)
    except SelectolaxError:
        raise ValueError(f"{css!r} is not a valid CSS selector") from None
    return css


Css = Annotated[str, AfterValidator(_check_selector)]


class HtmlSelectors(Config):
    """Selectors of a posting's fields within its card; `job_list` selects the cards."""

    job_list: Css | None = None
    title: Css | None = None
    company: Css | None = None
    location: Css | None = None
    description: Css | None = None
    link: Css | None = None
    posted_date: Css | None = None
    salary: Css | None = None


class PrimarySelectors(HtmlSelectors):
    job_list: Css  # pyright: ignore[reportGeneralTypeIssues, reportIncompatibleVariableOverride]
    title: Css  # pyright: ignore[reportGeneralTypeIssues, reportIncompatibleVariableOverride]


class HtmlPagination(Config):
    next_button: Css
    max_pages: Annotated[int, Field(ge=1, le=200)] = 10


class HtmlPageConfig(Config):
    url: Annotated[str, Field(pattern=r"^https?://")]
    method: Literal["requests", "browser", "selenium"] = "requests"
    """How pages are fetched: by a plain request or by a browser; `selenium` means `browser`."""
    selectors: PrimarySelectors
    alternative_selectors: tuple[HtmlSelectors, ...] = ()
    """Tried in order for each field that the primary selectors do not find."""
    pagination: HtmlPagination | None = None


def first_request(config: HtmlPageConfig) -> Request:
    return _page_request(config, config.url, [])


def _page_request(config: HtmlPageConfig, url: str, requested: Sequence[str]) -> Request:
    return Request(
        url,
        page=True,
        render=config.method != "requests",
        context={"asked": [*requested, urldefrag(url)[0]]},
    )


def read(body: bytes, request: Request, config: HtmlPageConfig) -> BoardPage:
    if not config.selectors:  # A saved page without a config.
        raise Invalid("a careers page needs a config with selectors")
    tree = html_tree.parse_html(body)
    base = request.url or config.url
    selector_sets = (config.selectors, *config.alternative_selectors)
    cards = _cards(tree, selector_sets)
    postings = [posting for card in cards if (posting := _posting(card, base, selector_sets))]
    if cards and not postings:
        raise OutsideError("no card on the page has a title", permanent=True)
    next_, truncated = _next_page(tree, base, request, config)
    return BoardPage(tuple(postings), next_, truncated, stubs=len(cards) - len(postings))


def _cards(tree: LexborHTMLParser, selector_sets: Sequence[HtmlSelectors]) -> list[LexborNode]:
    for selectors in selector_sets:
        if selectors.job_list and (cards := tree.css(selectors.job_list)):
            return cards
    return []


def _posting(card: LexborNode, base: str, selector_sets: Sequence[HtmlSelectors]) -> Posting | None:
    title = _text_by(card, [selectors.title for selectors in selector_sets])
    if not title:
        return None
    url = _link(card, base, [selectors.link for selectors in selector_sets]) or ""
    described = _nodes(card, [selectors.description for selectors in selector_sets])
    description = html_text.from_html(described[0].html) if described else None
    return Posting(
        title=title,
        url=url,
        company=_text_by(card, [selectors.company for selectors in selector_sets]),
        location=_text_by(card, [selectors.location for selectors in selector_sets]),
        posted_at=dates.parse_date(
            _date(card, [selectors.posted_date for selectors in selector_sets])
        ),
        salary=salary.from_text(_text_by(card, [selectors.salary for selectors in selector_sets])),
        description=description,
        # Without a page there is no more to read.
        partial=description is None and bool(url),
    )


def _nodes(card: LexborNode, selectors: Sequence[str | None]) -> list[LexborNode]:
    """The elements of the first selector that selects any text."""
    for css in selectors:
        nodes = card.css(css) if css else []
        if any(_text(node) for node in nodes):
            return nodes
    return []


def _text(node: LexborNode) -> str | None:
    return html_text.single_line(node.text(separator=" "))


def _text_by(card: LexborNode, selectors: Sequence[str | None]) -> str | None:
    return next(filter(None, map(_text, _nodes(card, selectors))), None)


def _date(card: LexborNode, selectors: Sequence[str | None]) -> str | None:
    """The date in the `datetime` attribute, else the text."""
    for css in selectors:
        for node in card.css(css) if css else []:
            if text := node.attributes.get("datetime") or _text(node):
                return text
    return None


def _link(card: LexborNode, base: str, selectors: Sequence[str | None]) -> str | None:
    """The URL of the card's link: by the selectors, else of the card itself."""
    for css in selectors:
        for node in card.css(css) if css else []:
            if url := _target(node, base):
                return url
    return _target(card, base) if card.tag == "a" else None


def _target(node: LexborNode, base: str) -> str | None:
    """The URL of a link, of the link inside an element, or of the link around it."""
    inner = node if node.attributes.get("href") else node.css_first("a[href]")
    if inner is None and node.parent is not None and node.parent.tag == "a":
        inner = node.parent
    href = (inner.attributes.get("href") or "").strip() if inner else ""
    if not href or href.startswith("#"):
        return None
    return lenient_models.parse_link(absolute_url(href, base))


def _next_page(
    tree: LexborHTMLParser, base: str, request: Request, config: HtmlPageConfig
) -> tuple[tuple[Request, ...], bool]:
    """The request for the next page, and whether there is a page that is not requested."""
    paging = config.pagination
    button = tree.css_first(paging.next_button) if paging else None
    if paging is None or button is None or _is_disabled(button):
        return (), False
    requested: list[str] = request.context.get("asked", [base])
    url = _target(button, base)
    if url and urldefrag(url)[0] in requested:
        return (), False
    # A button without a URL needs JavaScript, and links to other sites are not followed.
    if url is None or urlsplit(url).hostname != urlsplit(base).hostname:
        return (), True
    if len(requested) >= paging.max_pages:
        return (), True
    return (_page_request(config, url, requested),), False


def _is_disabled(button: LexborNode) -> bool:
    attributes = button.attributes
    classes = (attributes.get("class") or "").split()
    return (
        "disabled" in attributes
        or attributes.get("aria-disabled") == "true"
        or any(name.endswith("disabled") for name in classes)
    )


def detail_request(posting: Posting, config: HtmlPageConfig) -> Request:
    return Request(posting.url, page=True, render=config.method != "requests")


def read_detail(body: bytes, posting: Posting, config: HtmlPageConfig) -> Posting:
    details = page_reader.read_posting(body, posting.url).posting
    if details is None:
        raise OutsideError("the page shows no posting", permanent=True)
    return details


PLATFORM = Platform(
    name="html",
    title="Careers page",
    config=HtmlPageConfig,
    token=lambda config: config.url,
    first_request=first_request,
    read=read,
    detail_request=detail_request,
    read_detail=read_detail,
    confidence="low",
    # An empty result usually means that the page was redesigned, not that there are no jobs.
    allow_empty=False,
    is_shared_service=False,
)
