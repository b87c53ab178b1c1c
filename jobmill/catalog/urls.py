"""The normal form of a URL, and what a URL says about its page."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import SplitResult, urlsplit

from jobmill.errors import Invalid

LONGEST: Final = 4096

UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

_TRACKING = re.compile(
    r"(utm|mtm|pk|hsa|hs|mc|mkt|ga|gad|rx)_.*|_{1,2}hs.*|hsctatracking"
    r"|lever-.*|gh_src|ref|referr?er|ref_?src|source|src|via|from|medium|campaign(_?id)?"
    r"|fbclid|gclid|gclsrc|dclid|[wg]braid|msclkid|yclid|twclid|ttclid|li_fat_id|igsh(id)?"
    r"|trk|trkinfo|trackingid|tracking|lipi|mcid|cmpid|s_kwcid|spm|_ga|_gl|iisn?|share|jsessionid",
    re.IGNORECASE,
)
# Query parameters that identify a posting: by their name, or by a number or UUID as value.
_ID_NAME = re.compile(r"jk|vjk|jl|j|p|.*(id|jid|req|job|pos|vacan|offer|key|code|no|num|nr|token)")
_ID_VALUE = re.compile(rf".*\d{{3}}.*|{UUID}")
_LIST = re.compile(
    r"((all-|our-|open-|current-)?(careers?|jobs?|openings?|positions?|vacanc(y|ies)|roles|karriere)"
    r"|join(-us)?|work-with-us|about(-us)?|company|index|home|apply|search)?(\.\w+)?\??"
)
_TWO_LEVELS = re.compile(
    r"(?:co|com|org|net|gov|edu|ac|or|ne|go|gob|nom|ltd|plc)\.[a-z]{2}"
    r"|(?:github|gitlab)\.io|(?:vercel|netlify|web)\.app|pages\.dev|herokuapp\.com"
)


@dataclass(frozen=True, slots=True)
class UrlParts:
    """A URL in its normal form: escapes, case, default ports and tracking parameters removed."""

    root: str
    """Scheme, host and port; https where the port is the default."""
    host: str
    path: str
    query: tuple[tuple[str, str], ...]
    fragment: str

    def join(self) -> str:
        query = "&".join(f"{name}={value}" for name, value in self.query)
        return f"{self.root}{self.path}{'?' if query else ''}{query}{self.fragment}"

    def without_repeated_id(self) -> UrlParts:
        """Without the parameters that only repeat the id at the end of the path: the site shows the
        same page at "/careers/401" and at "/careers/401?gh_jid=401"."""
        last = self.path.rsplit("/", 1)[-1].lower()
        query = tuple(pair for pair in self.query if not _repeats(last, *pair))
        return self if len(query) == len(self.query) else replace(self, query=query)


def _repeats(last_step: str, name: str, value: str) -> bool:
    value = value.lower()
    ends_with_id = last_step == value or last_step.endswith((f"-{value}", f"_{value}"))
    return ends_with_id and bool(_ID_NAME.fullmatch(name.lower()) and _ID_VALUE.fullmatch(value))


def page(canonical: str) -> tuple[str, str]:
    """The host, and what distinguishes a posting on it: the path and the parameters that look like
    ids."""
    parts = parse(canonical)
    query = "&".join(
        value
        for name, value in parts.query
        if _ID_NAME.fullmatch(name.lower()) or _ID_VALUE.fullmatch(value)
    )
    return parts.host, f"{parts.path}?{query}{parts.fragment}"


def names_a_posting(page: tuple[str, str]) -> bool:
    """Whether a page ends in an id, or in as many words as a job title."""
    last = page[1].removesuffix("?").rsplit("/", 1)[-1]
    return bool(_ID_VALUE.fullmatch(last)) or last.count("-") >= 3


def names_a_list(page: tuple[str, str]) -> bool:
    """Whether a page is called as the lists of postings are."""
    return bool(_LIST.fullmatch(page[1].rsplit("/", 1)[-1].lower()))


def is_own_page(url: str) -> bool:
    """Whether the page probably belongs to one posting: it is below another page, is not named
    like a list, and has no anchor."""
    parts = parse(url)
    steps = [step for step in parts.path.split("/") if step]
    return (
        len(steps) >= 2
        and not _LIST.fullmatch(steps[-1].lower())
        and not urlsplit(url.strip()).fragment
    )


def differ_by_place(page: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two pages differ only in the last words of their names, as on sites that show a
    posting once for each place. Numbers and codes are ids, so such pages differ in more."""
    first, second = (path.removesuffix("?").split("-") for _, path in (page, other))
    steps = enumerate(zip(first, second, strict=False))
    common = next((at for at, (left, right) in steps if left != right), 0)
    tails = first[common:], second[common:]
    return (
        page[0] == other[0]
        and common >= 3
        and all(len(tail) <= 4 and re.search("[a-z]", "".join(tail)) for tail in tails)
        and all(re.fullmatch(r"[a-z]+|\d{1,2}", word) for tail in tails for word in tail)
    )


def domain(url: str) -> str:
    """The registered part of the host, by a short list of suffixes."""
    host = parse(url).host
    labels = host.split(".")
    if host.startswith("[") or all(label.isdigit() for label in labels):
        return host
    return ".".join(labels[-3:] if _TWO_LEVELS.fullmatch(".".join(labels[-2:])) else labels[-2:])


def parse(url: str) -> UrlParts:
    """The URL in its normal form; Invalid for anything but http(s) URLs."""
    if len(url) > LONGEST:
        raise Invalid(f"a URL has at most {LONGEST} characters")
    try:
        split = urlsplit(url.strip())
        root, host = _root(split)
    except ValueError as error:  # Includes the UnicodeError of an invalid host name.
        raise Invalid(f"{url[:200]!r} is not a URL: {error}") from None
    fragment = split.fragment
    return UrlParts(
        root, host, _path(split.path), _query(split.query), _route(fragment) if fragment else ""
    )


def _root(split: SplitResult) -> tuple[str, str]:
    """Scheme, host and port, and the host alone; http and https on their default ports count as
    one."""
    if split.scheme not in ("http", "https"):
        raise ValueError("it must start with http:// or https://")
    host = split.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    else:
        host = host.rstrip(".").encode("idna").decode("ascii").lower().rstrip(".")
        while host.startswith("www.") and host.count(".") > 1:
            host = host.removeprefix("www.")
    if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\]", host):
        raise ValueError("it has no valid host name")
    usual = split.port in (None, 80 if split.scheme == "http" else 443)
    return (f"https://{host}" if usual else f"{split.scheme}://{host}:{split.port}"), host


def _path(path: str) -> str:
    segments: list[str] = []
    for segment in re.sub(r"(?i);jsessionid=[^/]*", "", escape(path)).split("/"):
        if segment == "..":
            segments = segments[:-1]
        elif segment not in ("", "."):
            segments.append(segment)
    return "/" + "/".join(segments)


def _query(query: str) -> tuple[tuple[str, str], ...]:
    """The parameters without tracking, sorted, without repetitions."""
    pairs = (pair.partition("=")[::2] for pair in query.replace("+", "%20").split("&") if pair)
    escaped = {(escape(name, "="), escape(value, "=")) for name, value in pairs}
    return tuple(sorted(pair for pair in escaped if not _TRACKING.fullmatch(pair[0])))


def _route(fragment: str) -> str:
    """A fragment that acts as a path ("#/item/7", "#!item"); empty for an anchor."""
    if not fragment.startswith(("/", "!")):
        return ""
    path, _, query = fragment.partition("?")
    params = "&".join(f"{name}={value}" for name, value in _query(query))
    route = escape(path).rstrip("/")
    return f"#{route}{'?' if params else ''}{params}" if route else ""


def escape(text: str, also: str = "") -> str:
    """Every character in one form: literal if allowed, otherwise %XX in capitals."""
    plain = "".join(
        char if char in _ALLOWED and char not in also else _percent(char) for char in text
    )
    return re.sub(r"%([0-9A-Fa-f]{2})?", _one_form, plain)


_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ALLOWED = _UNRESERVED | frozenset("%/!$'()*,;:@=")


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", errors="replace"))


def _one_form(escape: re.Match[str]) -> str:
    if not escape[1]:
        return "%25"
    char = chr(int(escape[1], 16))
    return char if char in _UNRESERVED else escape[0].upper()
