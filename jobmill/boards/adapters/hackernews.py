"""Hacker News: the monthly thread "Ask HN: Who is hiring?", read through Algolia's search."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlencode

from pydantic import AliasChoices, Field

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Arrangement, Posting, Salary
from jobmill.errors import OutsideError
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary, work_arrangement
from jobmill.extract.lenient_models import ExternalRecord, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardPage, Config, Platform


class HiringThread(Config):
    story: int | None = None
    """The id of the thread; without it, the newest thread is read."""


class _Hit(ExternalRecord):
    objectID: str
    title: Maybe[str] = None
    comment_text: Maybe[str] = None
    parent_id: Maybe[int] = None
    story_id: Maybe[int] = None
    created_at: Maybe[str] = None


class _Answer(ExternalRecord):
    hits: list[object]
    nbHits: Maybe[int] = None
    nbPages: Maybe[int] = None
    page: Maybe[int] = None


class _Comment(ExternalRecord):
    """A single item in a response of Algolia or of Hacker News itself."""

    id: str
    text: str
    created_at: Maybe[str] = Field(None, validation_alias=AliasChoices("created_at", "time"))


class _Thread(ExternalRecord):
    children: list[object]


_API = "https://hn.algolia.com/api/v1/search_by_date"
_HIRING = re.compile(r"Ask HN: Who is hiring\?", re.IGNORECASE)
_PAGE_SIZE = 200
_MAX_HITS = 1_000
"""Algolia returns no more hits for one search."""


def first_request(config: HiringThread) -> Request:
    if config.story:
        return _comments_request(config.story, 0)
    params = {"tags": "story,author_whoishiring", "query": "Who is hiring?", "hitsPerPage": 10}
    return Request(f"{_API}?{urlencode(params)}")


def _comments_request(story: int, page: int) -> Request:
    params = {"tags": f"comment,story_{story}", "hitsPerPage": _PAGE_SIZE, "page": page}
    return Request(f"{_API}?{urlencode(params)}", context={"story": story, "page": page})


def read(body: bytes, request: Request, config: HiringThread) -> BoardPage:
    """A list of threads, of which the newest is requested next, or a page of comments. Also reads a
    thread saved with all its comments, and single comments."""
    value = lenient_models.parse_json(body)
    if (items := _items(value)) is not None:
        # Deleted comments have no text.
        comments = [
            comment for item in items if (comment := lenient_models.parse_record(_Comment, item))
        ]
        if items and not comments:
            raise lenient_models.unknown_response(PLATFORM.title)
        return BoardPage(
            tuple(posting for comment in comments if (posting := _posting_from_comment(comment)))
        )
    answer = _Answer.model_validate(value)
    hits, stubs = lenient_models.parse_records(_Hit, answer.hits)
    threads = [hit for hit in hits if hit.title and _HIRING.search(hit.title)]
    if threads:
        newest = max(threads, key=lambda hit: hit.created_at or "")
        return BoardPage((), next=(_comments_request(int(newest.objectID), 0),))
    if "story" not in request.context and not any(hit.comment_text for hit in hits):
        raise OutsideError("the search found no hiring thread", permanent=True)
    postings = tuple(comment for hit in hits if (comment := _posting(hit)))
    page, story = answer.page or 0, request.context.get("story")
    has_next = bool(hits) and page + 1 < (answer.nbPages or 0)
    return BoardPage(
        postings,
        next=(_comments_request(story, page + 1),) if story and has_next else (),
        truncated=(answer.nbHits or 0) > _MAX_HITS,
        stubs=stubs,
    )


def _items(value: object) -> list[object] | None:
    """The comments of a response that is not a search result; None for a search result."""
    if isinstance(value, list):
        return cast(list[object], value)
    if thread := lenient_models.parse_record(_Thread, value):
        return thread.children
    return [value] if lenient_models.parse_record(_Comment, value) else None


def _posting(hit: _Hit) -> Posting | None:
    """The posting of a direct reply to the thread; None for replies to other comments."""
    if not hit.comment_text or (hit.parent_id or 0) != (hit.story_id or 0):
        return None
    return _posting_from_comment(
        _Comment(id=hit.objectID, text=hit.comment_text, created_at=hit.created_at)
    )


def _posting_from_comment(comment: _Comment) -> Posting | None:
    """The posting of a comment that starts with the usual columns; None for questions and
    discussion."""
    html = comment.text
    top = html_text.from_html(re.split(r"<p>|\n", html, maxsplit=1)[0])
    header = read_header(html_text.single_line(top) or "")
    if header is None:
        return None
    return Posting(
        title=header.title,
        url=f"https://news.ycombinator.com/item?id={comment.id}",
        company=header.company,
        location="; ".join(header.places) or None,
        locations=tuple(header.places),
        arrangement=header.arrangement,
        remote_from=tuple(header.remote_from),
        employment_type=header.employment_type,
        posted_at=dates.parse_date(comment.created_at),
        salary=header.salary,
        description=html_text.from_html(html),
        vendor_id=comment.id,
        via="Hacker News",
    )


@dataclass(slots=True)
class CommentHeader:
    """The first line of a comment: `Company | Role | Location | Remote | Pay`, in almost any order."""

    company: str
    roles: list[str] = field(default_factory=list[str])
    places: list[str] = field(default_factory=list[str])
    remote_from: list[str] = field(default_factory=list[str])
    arrangement: Arrangement | None = None
    employment_type: str | None = None
    salary: Salary | None = None
    line: str = ""

    @property
    def title(self) -> str:
        return " / ".join(self.roles) or self.line


_ROLE = re.compile(
    r"engineer|develop|program|scien|design|manag|analyst|architect|lead\b|head of|director|\bvp\b"
    r"|\bc[teop]o\b|founding|co-?founder|\bsre\b|devops|\bdba\b|research|intern\b|internship"
    r"|administrat|consultant|specialist|support|sales|market|product|recruit|writer|advocate"
    r"|full.?stack|front.?end|back.?end|\bqa\b|tester|technician|operations|hacker|coordinator"
    r"|executive|generalist|staff|\bdata\b|\bml\b|machine learning|security|positions?\b|roles?\b"
    r"|openings?\b|accountant|teacher|editor",
    re.IGNORECASE,
)
_ROLE_AT_END = re.compile(r"(?:engineer|developer|designer|manager|scientist)s?$", re.IGNORECASE)
_EMPLOYMENT = re.compile(
    r"\W*(?:(?:full|part)[- /]?time|f/?t|permanent|contract(?:or)?s?|freelance|intern(?:ship)?s?"
    r"|full/part[- ]?time|and|or|\W)+",
    re.IGNORECASE,
)
_ARRANGEMENT = re.compile(
    r"\b(?:remote(?:ly)?|on-?site|hybrid|in[- ]office|in[- ]person|wfh|distributed)\b",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"[$€£¥]\s?\d|\d\s?k\b|\bequity\b|\bsalary\b|\bcompensation\b|\d{2,3},\d{3}", re.IGNORECASE
)
_URL = re.compile(
    r"https?://[^\s()]+|www\.[^\s()]+|\b[\w-]+\.(?:com|io|ai|co|org|net|dev|app|jobs)\b[^\s()]*",
    re.IGNORECASE,
)
_VISA = re.compile(r"\b(?:visas?|h-?1b|relocation|relocate|citizens?|clearance)\b", re.IGNORECASE)
_FILLER = re.compile(
    r"\b(?:or|and|in|only|friendly|ok|first|preferred|possible|also|optional|team|global|worldwide)\b",
    re.IGNORECASE,
)
_IN_PARENTHESES = re.compile(r"\(([^()]*)\)")
_NOT_A_PLACE = re.compile(
    r"\b(?:hours?|required|preferred|speak(?:ing|er)|overlap|time ?zones?|tz)\b"
    r"|^(?:[EP]T|[ECMP][SD]T|CES?T|GMT|UTC|BST|IST)\b",
    re.IGNORECASE,
)
"""Required languages and working hours, which may appear in the place of a location."""
_LOWERCASE_WORDS = frozenset({"or", "and", "de", "of", "the", "in"})
_SEPARATORS = " -–—·,;:/&+"  # noqa: RUF001
_MAX_LENGTH = 120


def read_header(line: str) -> CommentHeader | None:
    """The columns of a first line; None without columns or without a company."""
    parts = [
        part for part in (column.strip(_SEPARATORS) for column in re.split(r"[|¦]", line)) if part
    ]
    if len(parts) < 2:
        return None
    header = CommentHeader(
        _company_name(parts[0]), line=html_text.single_line(_URL.sub("", line)) or line
    )
    unclear = [
        part for part in map(_without_url, parts[1:]) if part and not _classify(part, header)
    ]
    if not header.roles and unclear and _ROLE_AT_END.search(header.company):
        header.roles, header.company = [header.company], _company_name(unclear.pop(0))
    if not header.roles and unclear and not _looks_like_place(unclear[0]):
        header.roles.append(unclear.pop(0)[:_MAX_LENGTH])
    header.places += [part for part in unclear if _looks_like_place(part)]
    return header if 0 < len(header.company) <= _MAX_LENGTH else None


def _without_url(part: str) -> str:
    return _URL.sub("", part).strip(_SEPARATORS)


def _company_name(part: str) -> str:
    """The company without its URL and parentheses: "Acme (YC S20, acme.com)"."""
    for plain in (_IN_PARENTHESES.sub("", _URL.sub("", part)), _IN_PARENTHESES.sub("", part), part):
        if name := html_text.single_line(plain.strip(_SEPARATORS)):
            return name
    return ""


def _classify(part: str, header: CommentHeader) -> bool:
    """Whether a column could be classified; its value is then set in the header."""
    if len(part) > 2 * _MAX_LENGTH:
        return True  # A sentence is not one of the columns.
    if _EMPLOYMENT.fullmatch(part):
        header.employment_type = header.employment_type or employment.parse_employment_type(part)
    elif re.match(r"\W*[$€£¥]", part) or (_MONEY.search(part) and not _ROLE.search(part)):
        header.salary = header.salary or salary.from_text(part)
        header.arrangement = header.arrangement or _arrangement(part)
    elif _ARRANGEMENT.search(part) and not _ROLE.search(
        _ARRANGEMENT.sub("", _IN_PARENTHESES.sub("", part))
    ):
        _read_arrangement(part, header)
    elif _VISA.search(part):
        pass
    elif _ROLE.search(part) and len(part) <= _MAX_LENGTH:
        header.roles.append(part)
    else:
        return False
    return True


def _arrangement(part: str) -> Arrangement | None:
    match = _ARRANGEMENT.search(part)
    return work_arrangement.from_label(match[0]) if match else None


def _read_arrangement(part: str, header: CommentHeader) -> None:
    """Set arrangement and places from "Remote (EMEA)", "ONSITE in Berlin, full-time" or "Remote or
    NYC"."""
    header.arrangement = header.arrangement or work_arrangement.from_label(part)
    if header.arrangement == "remote":
        inside = [
            aside
            for aside in _IN_PARENTHESES.findall(part)
            if _looks_like_place(_FILLER.sub("", aside))
        ]
        header.remote_from += location_text.split_locations(
            "; ".join(_FILLER.sub("", aside) for aside in inside)
        )
    places: list[str] = []
    for token in re.split(r",| - |/", _ARRANGEMENT.sub(",", _IN_PARENTHESES.sub("", part))):
        word = _FILLER.sub("", token).strip(_SEPARATORS + "()")
        if _EMPLOYMENT.fullmatch(token) and word:
            header.employment_type = header.employment_type or employment.parse_employment_type(
                word
            )
        elif _looks_like_place(word) and not _VISA.search(word):
            places.append(word)
    if places:
        header.places.append(", ".join(places))


def _looks_like_place(part: str) -> bool:
    """Whether a text is short and all its words are capitalized: "Berlin, Germany", "NYC"."""
    words = re.findall(r"[^\W\d_]+", part) if not _NOT_A_PLACE.search(part) else []
    return 0 < len(words) <= 12 and all(
        word[0].isupper() or word in _LOWERCASE_WORDS for word in words
    )


PLATFORM = Platform(
    name="hackernews",
    title="Hacker News: Who is hiring?",
    posting_ids=PostingIds(aggregator=True),
    config=HiringThread,
    token=lambda config: str(config.story or "newest"),
    first_request=first_request,
    read=read,
    inventory=False,
)
