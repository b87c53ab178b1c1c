"""Any page that lists postings, by CSS selectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal
from urllib.parse import urldefrag, urljoin, urlsplit

from pydantic import AfterValidator, Field
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid, OutsideError
from jobmill.extract import html_tree, lenient_models
from jobmill.extract.fields import dates, html_text, salary
from jobmill.extract.page import page_reader
from jobmill.outside.request import Request

from ..platform import BoardPage, Config, Platform


def _selector(css: str) -> str:
    try:
        LexborHTMLParser("").css(css)
    except SelectolaxError:
        raise ValueError(f"{css!r} is not a CSS selector that we know") from None
    return css


Css = Annotated[str, AfterValidator(_selector)]


class HtmlSelectors(Config):
    """Where a posting's parts stand within its card; `job_list` selects the cards."""

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
    """How pages are fetched: plainly, or by a browser, which `selenium` means too."""
    selectors: PrimarySelectors
    alternative_selectors: tuple[HtmlSelectors, ...] = ()
    """Tried in order, part by part, where the primary ones find nothing."""
    pagination: HtmlPagination | None = None


def first_request(config: HtmlPageConfig) -> Request:
    return _ask(config, config.url, [])


def _ask(config: HtmlPageConfig, url: str, asked: Sequence[str]) -> Request:
    return Request(
        url,
        page=True,
        render=config.method != "requests",
        context={"asked": [*asked, urldefrag(url)[0]]},
    )


def read(body: bytes, request: Request, config: HtmlPageConfig) -> BoardPage:
    if not config.selectors:  # A saved page of which nobody said how it is read.
        raise Invalid("say where the postings stand: this needs a config with selectors")
    tree = html_tree.parse_html(body)
    base = request.url or config.url
    sets = (config.selectors, *config.alternative_selectors)
    cards = _cards(tree, sets)
    postings = [one for card in cards if (one := _posting(card, base, sets))]
    if cards and not postings:
        raise OutsideError("no card on the page has a title", permanent=True)
    next_, truncated = _turn(tree, base, request, config)
    return BoardPage(tuple(postings), next_, truncated, stubs=len(cards) - len(postings))


def _cards(tree: LexborHTMLParser, sets: Sequence[HtmlSelectors]) -> list[LexborNode]:
    for one in sets:
        if one.job_list and (found := tree.css(one.job_list)):
            return found
    return []


def _posting(card: LexborNode, base: str, sets: Sequence[HtmlSelectors]) -> Posting | None:
    title = _part(card, [one.title for one in sets])
    if not title:
        return None
    described = _nodes(card, [one.description for one in sets])
    description = html_text.from_html(described[0].html) if described else None
    return Posting(
        title=title,
        url=_link(card, base, [one.link for one in sets]) or "",
        company=_part(card, [one.company for one in sets]),
        location=_part(card, [one.location for one in sets]),
        posted_at=dates.parse_date(_date(card, [one.posted_date for one in sets])),
        salary=salary.from_text(_part(card, [one.salary for one in sets])),
        description=description,
        partial=description is None,
    )


def _nodes(card: LexborNode, selectors: Sequence[str | None]) -> list[LexborNode]:
    """What the first selector finds that finds something with words in it."""
    for css in selectors:
        found = card.css(css) if css else []
        if any(_words(node) for node in found):
            return found
    return []


def _words(node: LexborNode) -> str | None:
    return html_text.single_line(node.text(separator=" "))


def _part(card: LexborNode, selectors: Sequence[str | None]) -> str | None:
    return next(filter(None, map(_words, _nodes(card, selectors))), None)


def _date(card: LexborNode, selectors: Sequence[str | None]) -> str | None:
    """The date that a <time> states, else the words."""
    for css in selectors:
        for node in card.css(css) if css else []:
            if said := node.attributes.get("datetime") or _words(node):
                return said
    return None


def _link(card: LexborNode, base: str, selectors: Sequence[str | None]) -> str | None:
    """Where the card leads: by the selectors, else by itself, if it is a link."""
    for css in selectors:
        for node in card.css(css) if css else []:
            if url := _target(node, base):
                return url
    return _target(card, base) if card.tag == "a" else None


def _target(node: LexborNode, base: str) -> str | None:
    """The address of a link, or of the link within a button or around a text."""
    inner = node if node.attributes.get("href") else node.css_first("a[href]")
    if inner is None and node.parent is not None and node.parent.tag == "a":
        inner = node.parent
    href = (inner.attributes.get("href") or "").strip() if inner else ""
    return (
        lenient_models.parse_link(urljoin(base, href))
        if href and not href.startswith("#")
        else None
    )


def _turn(
    tree: LexborHTMLParser, base: str, request: Request, config: HtmlPageConfig
) -> tuple[tuple[Request, ...], bool]:
    """The next page, and whether there is one that we do not read."""
    paging = config.pagination
    button = tree.css_first(paging.next_button) if paging else None
    if paging is None or button is None or _is_off(button):
        return (), False
    asked: list[str] = request.context.get("asked", [base])
    url = _target(button, base)
    if url and urldefrag(url)[0] in asked:
        return (), False
    # A button without an address is a program's; another site is not ours to follow.
    if url is None or urlsplit(url).hostname != urlsplit(base).hostname:
        return (), True
    if len(asked) >= paging.max_pages:
        return (), True
    return (_ask(config, url, asked),), False


def _is_off(button: LexborNode) -> bool:
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
    found = page_reader.read_posting(body, posting.url).posting
    if found is None:
        raise OutsideError("the page shows no posting", permanent=True)
    return lenient_models.merge_details(posting, found)


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
    # Nothing found more often means that the page was rebuilt than that nobody is wanted.
    allow_empty=False,
    vendor=False,
)
