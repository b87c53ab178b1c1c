"""Read the metadata of a page: head, breadcrumbs, URL, and the names of its site."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..fields import html_text
from .text_checks import contains_words, normalize
from .visible_lines import PageText, lines_containing

_CAREERS_HOST = re.compile(
    r"https?://(?:careers?|jobs?|karriere|apply|join|work|empleo)[.-]", re.IGNORECASE
)
_HOME = re.compile(r"/|\./|(?:https?://[^/]{1,80})/?|/?(?:index|default|home)\.\w{2,5}")
_DOMAIN = re.compile(r"(?<!\S)[\w-]{3,40}\.(?:com|net|org|us|info|jobs|example|co|io|biz)(?!\w)")
_FIRST_LINKS = 40
_MAX_MAIL_LINE = 300
_MAX_LINKS = 300
_COPYRIGHT_HINTS = ("©", "(c) 20", "(c)20", "copyright")
_MAIL = re.compile(r"mailto:[^@?]{1,80}@([\w.-]{3,80})")
_MAIL_IN_TEXT = re.compile(r"[\w.+-]{1,64}@([\w-]{1,60}(?:\.[\w-]{2,30}){1,3})")
_BOARD_NAME = re.compile(
    r"jobs?(?![a-z])|jobs|career(?!s? at)|recruit|staffing|hiring", re.IGNORECASE
)
_JOB_BOARD_LINK = re.compile(
    r"(?:(?:for|i.?m an?) )?(?:employers?|recruiters?|job ?seekers?)(?: (?:log ?in|sign in|home))?"
    r"|(?:post|advertise|upload|submit|add|build|create|search)(?: (?:an?|your|my|free))?"
    r" (?:jobs?|resumes?|cvs?|vacancy)(?: (?:free|now|ad|online))?"
    r"|(?:browse|search|all|top) (?:companies|employers|recruiters)|my resumes?|resume (?:tips|help)"
    r"|(?:browse|search) jobs by .*|für arbeitgeber|(?:stelle|anzeige) (?:schalten|inserieren)",
    re.IGNORECASE,
)
_JOB_BOARD_PATH = re.compile(
    r"/(?:employers?|recruiters?|advertisers?|arbeitgeber)(?:/|$|\.\w{2,5})"
    r"|[/_-]post-?_?(?:a-?)?(?:jobs?|vacanc)",
    re.IGNORECASE,
)
_JOB_BOARD_WORDS = re.compile(
    r"\b(?:job (?:board|site|portal|bank)|job search (?:site|engine|portal)|(?:post|upload) (?:your|a)"
    r" (?:resume|cv)|job ?seekers?|stellenbörse|jobbörse|stellenmarkt|bolsa de (?:trabajo|empleo)|site"
    r" d['\u2019]emploi)s?\b",
    re.IGNORECASE,
)
_LOGO = re.compile(r"\s+logo$", re.IGNORECASE)
_CRUMB_SEPARATOR = re.compile(r"\s*(?:[>»\u203a→|]|::|\s/\s|\x1f)\s*")


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """Metadata that is compared with the visible lines."""

    title: str
    shared_title: str
    """The title for sharing (og:title, twitter:title)."""
    site_name: str
    description: str
    """Description and keywords."""
    place: str
    slug: str
    path: str
    """The path of the URL."""
    host: str
    full_host: str
    """The host without "www", dots and hyphens: "acmecouk"."""
    is_careers_host: bool
    """The host name is that of a careers site."""
    language: str
    crumbs: tuple[str, ...] = ()
    logos: tuple[str, ...] = ()
    """Alternative texts of images."""
    site_names: str = ""
    """Names of the site, normalized and separated by bars."""
    copyright_owner: str = ""
    """Normalized text of the copyright notice."""
    mail_hosts: frozenset[str] = frozenset()
    """Main parts of the hosts in mail addresses."""
    is_job_board: bool = False
    """The site serves many employers, so its own name is not the company."""


def page_address(tree: LexborHTMLParser, url: str) -> str:
    """The URL of the page: as given, else as the page declares it."""
    if url:
        return url
    node = tree.css_first('link[rel="canonical"][href],base[href]')
    return (node.attributes.get("href") if node else None) or ""


def read_metadata(tree: LexborHTMLParser, url: str) -> PageMetadata:
    """Read the head of a page."""
    meta = _meta(tree)
    title = (tree.head and tree.head.css_first("title")) or tree.css_first("title")
    html = tree.root
    return PageMetadata(
        title=_line(title.text()) if title else "",
        shared_title=meta.get("og:title") or meta.get("twitter:title") or meta.get("title") or "",
        site_name=meta.get("og:site_name") or meta.get("application-name") or "",
        description="\n".join(
            meta.get(key, "") for key in ("description", "og:description", "keywords")
        ),
        place=meta.get("geo.placename", ""),
        slug=_slug(_path(url)),
        path=_path(url),
        host=_host(url),
        full_host=_full_host(url),
        is_careers_host=bool(_CAREERS_HOST.match(url)),
        language=((html.attributes.get("lang") if html else None) or "").lower(),
    )


def _line(words: str) -> str:
    return html_text.single_line(words[:1_000]) or ""


def _meta(tree: LexborHTMLParser) -> dict[str, str]:
    meta: dict[str, str] = {}
    for node in tree.css("meta[content]")[:100]:
        attributes = node.attributes
        name = attributes.get("property") or attributes.get("name") or ""
        meta.setdefault(name.lower(), _line(attributes.get("content") or ""))
    return meta


def add_page_text(metadata: PageMetadata, page_text: PageText) -> PageMetadata:
    """Add breadcrumbs, logos, site names and owner from the visible text."""
    short = [line for line in page_text.lines if len(line.text) <= 160]
    return replace(
        metadata,
        crumbs=_find_crumbs(page_text),
        logos=_find_logos(page_text),
        site_names=" | ".join(_find_site_names(metadata, page_text)),
        copyright_owner=normalize(
            " | ".join(line.text for line in lines_containing(short, _COPYRIGHT_HINTS))
        ),
        mail_hosts=_find_mail_hosts(page_text),
        is_job_board=_is_job_board(metadata, page_text),
    )


def _is_job_board(metadata: PageMetadata, page_text: PageText) -> bool:
    """Whether the site's name, its description or its links say that it serves many employers."""
    return (
        bool(_BOARD_NAME.search(f"{metadata.host} {metadata.site_name}"))
        or bool(_JOB_BOARD_WORDS.search(metadata.description))
        or any(
            _JOB_BOARD_PATH.search(href[:300]) or _leads_to_board(link)
            for link, href in zip(
                page_text.links[:_MAX_LINKS], page_text.hrefs[:_MAX_LINKS], strict=True
            )
        )
    )


def _leads_to_board(link: LexborNode) -> bool:
    """Whether the text, the tooltip or the picture of a link offers a service of job boards."""
    words = link.text(strip=True)
    if words:
        return bool(_JOB_BOARD_LINK.fullmatch(words))
    picture = link.css_first("img")
    labels = (link.attributes.get("title"), picture.attributes.get("alt") if picture else None)
    return any(_JOB_BOARD_LINK.fullmatch(label) for label in labels if label)


def is_site_name(key: str, metadata: PageMetadata) -> bool:
    """Whether normalized words are the name of the site: as its pages or its host write it."""
    if contains_words(key, metadata.site_names):
        return True
    joined = key.replace(" ", "")
    host = metadata.host.replace("-", "")
    return bool(host) and (joined == host or joined == metadata.full_host)


def _find_mail_hosts(page_text: PageText) -> frozenset[str]:
    matches = [_MAIL.match(href) for href in page_text.hrefs if href.startswith("mailto:")]
    matches += [
        _MAIL_IN_TEXT.search(line.text)
        for line in page_text.lines
        if "@" in line.text and len(line.text) <= _MAX_MAIL_LINE
    ]
    return frozenset(_host(f"https://{mail[1]}/") for mail in matches if mail)


def _find_site_names(metadata: PageMetadata, page_text: PageText) -> list[str]:
    """Names of the site: its host, links to the home page, and domain names in the title."""
    home = [
        link.text()
        for link, href in zip(page_text.links[:_FIRST_LINKS], page_text.hrefs, strict=False)
        if _HOME.fullmatch(href)
    ]
    named = (metadata.site_name, metadata.host, *_DOMAIN.findall(metadata.title), *home)
    names = map(normalize, named)
    return list(dict.fromkeys(name for name in names if len(name) > 2))


def _find_logos(page_text: PageText) -> tuple[str, ...]:
    logos = map(_line, [words for words in page_text.pictures if words][:60])
    return tuple(_LOGO.sub("", words) for words in logos if words)


def _find_crumbs(page_text: PageText) -> tuple[str, ...]:
    if not page_text.crumbs:
        return ()
    parts = _CRUMB_SEPARATOR.split(page_text.crumbs.text(separator="\x1f")[:1_000])
    return tuple(part for part in map(_line, parts) if normalize(part))


def _path(address: str) -> str:
    try:
        return unquote(urlsplit(address).path)
    except ValueError:
        return ""


def _slug(path: str) -> str:
    """The words of the path that could be a title."""
    return normalize(max(path.split("/"), key=len, default=""))


def _host(address: str) -> str:
    """The main part of the host: "acme" for careers.acme.co.uk."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return ""
    parts = [part for part in host.split(".")[:-1] if part not in ("www", "co", "com", "org")]
    return parts[-1] if parts else ""


def _full_host(address: str) -> str:
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return ""
    return re.sub(r"[.-]", "", host.removeprefix("www."))
