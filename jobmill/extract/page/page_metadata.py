"""What a page says about itself: its head, its breadcrumbs, its address."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser

from ..fields import html_text
from .text_checks import squeeze
from .text_lines import View, holding

_OWN = re.compile(r"https?://(?:careers?|jobs?|karriere|apply|join|work|empleo)[.-]", re.IGNORECASE)
_HOME = re.compile(r"/|\./|(?:https?://[^/]{1,80})/?|/?(?:index|default|home)\.\w{2,5}")
_DOMAIN = re.compile(r"(?<!\S)[\w-]{3,40}\.(?:com|net|org|us|info|jobs|example|co|io|biz)(?!\w)")
_FIRST_LINKS = 40
_LINKS = 80
_RIGHTS = ("©", "(c) 20", "(c)20", "copyright")
_MAIL = re.compile(r"mailto:[^@?]{1,80}@([\w.-]{3,80})")
_BOARD_NAME = re.compile(
    r"jobs?(?![a-z])|jobs|career(?!s? at)|recruit|staffing|hiring", re.IGNORECASE
)
_FOR_MANY = re.compile(
    r"(?:(?:for|i.?m an?) )?(?:employers?|recruiters?|job ?seekers?)(?: (?:log ?in|sign in|home))?"
    r"|(?:post|advertise|upload|submit|add|build|create|search)(?: (?:an?|your|my|free))?"
    r" (?:jobs?|resumes?|cvs?|vacancy)(?: (?:free|now|ad|online))?"
    r"|(?:browse|search|all|top) (?:companies|employers|recruiters)|my resumes?|resume (?:tips|help)"
    r"|(?:browse|search) jobs by .*|für arbeitgeber|(?:stelle|anzeige) (?:schalten|inserieren)",
    re.IGNORECASE,
)
_LOGO = re.compile(r"\s+logo$", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:[>»\u203a→|]|::|\s/\s|\x1f)\s*")


@dataclass(frozen=True, slots=True)
class Head:
    """All that can be compared with the visible lines."""

    title: str
    shared: str
    """The title for sharing (og:title, twitter:title)."""
    site: str
    about: str
    """Description and keywords."""
    place: str
    slug: str
    path: str
    """The path of the address."""
    host: str
    own: bool
    """The host calls itself the careers site of somebody."""
    language: str
    crumbs: tuple[str, ...] = ()
    logos: tuple[str, ...] = ()
    """What pictures say in words."""
    sites: str = ""
    """Squeezed, with bars between: what the page calls its site."""
    owner: str = ""
    """Squeezed: whose rights the page says are reserved."""
    mails: frozenset[str] = frozenset()
    """Hosts of mail addresses, the telling parts."""
    board: bool = False
    """The site serves many employers, so that its own name is nobody's."""


def address(tree: LexborHTMLParser, url: str) -> str:
    """Where the page is: as we know it, else as it says itself."""
    if url:
        return url
    node = tree.css_first('link[rel="canonical"][href],base[href]')
    return (node.attributes.get("href") if node else None) or ""


def read(tree: LexborHTMLParser, url: str) -> Head:
    """The head of a page."""
    meta = _meta(tree)
    title = (tree.head and tree.head.css_first("title")) or tree.css_first("title")
    html = tree.root
    return Head(
        title=_line(title.text()) if title else "",
        shared=meta.get("og:title") or meta.get("twitter:title") or meta.get("title") or "",
        site=meta.get("og:site_name") or meta.get("application-name") or "",
        about="\n".join(meta.get(key, "") for key in ("description", "og:description", "keywords")),
        place=meta.get("geo.placename", ""),
        slug=_slug(_path(url)),
        path=_path(url),
        host=_host(url),
        own=bool(_OWN.match(url)),
        language=((html.attributes.get("lang") if html else None) or "").lower(),
    )


def _line(words: str) -> str:
    return html_text.single_line(words[:1_000]) or ""


def _meta(tree: LexborHTMLParser) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in tree.css("meta[content]")[:100]:
        attributes = node.attributes
        name = attributes.get("property") or attributes.get("name") or ""
        found.setdefault(name.lower(), _line(attributes.get("content") or ""))
    return found


def with_view(head: Head, view: View) -> Head:
    """The head with what else stands on every page of a site."""
    short = [line for line in view.lines if len(line.text) <= 160]
    return replace(
        head,
        crumbs=_crumbs(view),
        logos=_logos(view),
        sites=" | ".join(_sites(head, view)),
        owner=squeeze(" | ".join(line.text for line in holding(short, _RIGHTS))),
        mails=_mails(view),
        board=bool(_BOARD_NAME.search(f"{head.host} {head.site}"))
        or any(_FOR_MANY.fullmatch(link.text(strip=True)) for link in view.links[:_LINKS]),
    )


def _mails(view: View) -> frozenset[str]:
    found = (_MAIL.match(href) for href in view.hrefs if href.startswith("mailto:"))
    return frozenset(_host(f"https://{mail[1]}/") for mail in found if mail)


def _sites(head: Head, view: View) -> list[str]:
    """Names of the site: its host, links that lead home, names with a dot in the title."""
    home = [
        link.text()
        for link, href in zip(view.links[:_FIRST_LINKS], view.hrefs, strict=False)
        if _HOME.fullmatch(href)
    ]
    named = (head.site, head.host, *_DOMAIN.findall(head.title), *home)
    found = map(squeeze, named)
    return list(dict.fromkeys(name for name in found if len(name) > 2))


def _logos(view: View) -> tuple[str, ...]:
    found = map(_line, [words for words in view.pictures if words][:60])
    return tuple(_LOGO.sub("", words) for words in found if words)


def _crumbs(view: View) -> tuple[str, ...]:
    if not view.crumbs:
        return ()
    parts = _BETWEEN.split(view.crumbs.text(separator="\x1f")[:1_000])
    return tuple(part for part in map(_line, parts) if squeeze(part))


def _path(address: str) -> str:
    try:
        return unquote(urlsplit(address).path)
    except ValueError:
        return ""


def _slug(path: str) -> str:
    """The words of the path that could be a title."""
    return squeeze(max(path.split("/"), key=len, default=""))


def _host(address: str) -> str:
    """The telling part of the host: "acme" of careers.acme.co.uk."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return ""
    parts = [part for part in host.split(".")[:-1] if part not in ("www", "co", "com", "org")]
    return parts[-1] if parts else ""
