"""Hacker News: the monthly thread "Ask HN: Who is hiring?", by way of Algolia's search."""

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
    """The thread's number; without it, the newest."""


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
    """As Algolia's and Hacker News's own answers for single items have it."""

    id: str
    text: str
    created_at: Maybe[str] = Field(None, validation_alias=AliasChoices("created_at", "time"))


class _Thread(ExternalRecord):
    children: list[object]


API = "https://hn.algolia.com/api/v1/search_by_date"
HIRING = re.compile(r"Ask HN: Who is hiring\?", re.IGNORECASE)
SIZE = 200
MOST = 1_000
"""Algolia shows no more of one search."""


def first_request(config: HiringThread) -> Request:
    if config.story:
        return _comments(config.story, 0)
    wanted = {"tags": "story,author_whoishiring", "query": "Who is hiring?", "hitsPerPage": 10}
    return Request(f"{API}?{urlencode(wanted)}")


def _comments(story: int, page: int) -> Request:
    wanted = {"tags": f"comment,story_{story}", "hitsPerPage": SIZE, "page": page}
    return Request(f"{API}?{urlencode(wanted)}", context={"story": story, "page": page})


def read(body: bytes, request: Request, config: HiringThread) -> BoardPage:
    """The threads, of which the newest is followed, or a page of one's comments; also a thread as
    one item with all its comments, and comments alone."""
    value = lenient_models.parse_json(body)
    if (items := _items(value)) is not None:
        # Comments that were taken back have no text.
        held = [one for item in items if (one := lenient_models.parse_record(_Comment, item))]
        if items and not held:
            raise lenient_models.unknown_response(PLATFORM.title)
        return BoardPage(tuple(found for one in held if (found := _from(one))))
    answer = _Answer.model_validate(value)
    hits, stubs = lenient_models.parse_records(_Hit, answer.hits)
    threads = [hit for hit in hits if hit.title and HIRING.search(hit.title)]
    if threads:
        newest = max(threads, key=lambda hit: hit.created_at or "")
        return BoardPage((), next=(_comments(int(newest.objectID), 0),))
    if "story" not in request.context and not any(hit.comment_text for hit in hits):
        raise OutsideError("the search names no thread of this kind", permanent=True)
    postings = tuple(one for hit in hits if (one := _posting(hit)))
    page, story = answer.page or 0, request.context.get("story")
    more = bool(hits) and page + 1 < (answer.nbPages or 0)
    return BoardPage(
        postings,
        next=(_comments(story, page + 1),) if story and more else (),
        truncated=(answer.nbHits or 0) > MOST,
        stubs=stubs,
    )


def _items(value: object) -> list[object] | None:
    """The comments of an answer that is no search's; None where it is one."""
    if isinstance(value, list):
        return cast(list[object], value)
    if thread := lenient_models.parse_record(_Thread, value):
        return thread.children
    return [value] if lenient_models.parse_record(_Comment, value) else None


def _posting(hit: _Hit) -> Posting | None:
    """What a thread is answered with; None for what answers those answers."""
    if not hit.comment_text or (hit.parent_id or 0) != (hit.story_id or 0):
        return None
    return _from(_Comment(id=hit.objectID, text=hit.comment_text, created_at=hit.created_at))


def _from(comment: _Comment) -> Posting | None:
    """A comment that begins as postings do; None for questions and talk."""
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
    """What a first line says: `Company | Role | Location | Remote | Pay`, in nearly any order."""

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


ROLE = re.compile(
    r"engineer|develop|program|scien|design|manag|analyst|architect|lead\b|head of|director|\bvp\b"
    r"|\bc[teop]o\b|founding|co-?founder|\bsre\b|devops|\bdba\b|research|intern\b|internship"
    r"|administrat|consultant|specialist|support|sales|market|product|recruit|writer|advocate"
    r"|full.?stack|front.?end|back.?end|\bqa\b|tester|technician|operations|hacker|coordinator"
    r"|executive|generalist|staff|\bdata\b|\bml\b|machine learning|security|positions?\b|roles?\b"
    r"|openings?\b|accountant|teacher|editor",
    re.IGNORECASE,
)
ENDS_AS_ROLE = re.compile(r"(?:engineer|developer|designer|manager|scientist)s?$", re.IGNORECASE)
EMPLOYMENT = re.compile(
    r"\W*(?:(?:full|part)[- /]?time|f/?t|permanent|contract(?:or)?s?|freelance|intern(?:ship)?s?"
    r"|full/part[- ]?time|and|or|\W)+",
    re.IGNORECASE,
)
WHERE = re.compile(
    r"\b(?:remote(?:ly)?|on-?site|hybrid|in[- ]office|in[- ]person|wfh|distributed)\b",
    re.IGNORECASE,
)
MONEY = re.compile(
    r"[$€£¥]\s?\d|\d\s?k\b|\bequity\b|\bsalary\b|\bcompensation\b|\d{2,3},\d{3}", re.IGNORECASE
)
ADDRESS = re.compile(
    r"https?://[^\s()]+|www\.[^\s()]+|\b[\w-]+\.(?:com|io|ai|co|org|net|dev|app|jobs)\b[^\s()]*",
    re.IGNORECASE,
)
VISA = re.compile(r"\b(?:visas?|h-?1b|relocation|relocate|citizens?|clearance)\b", re.IGNORECASE)
FILLER = re.compile(
    r"\b(?:or|and|in|only|friendly|ok|first|preferred|possible|also|optional|team|global|worldwide)\b",
    re.IGNORECASE,
)
ASIDE = re.compile(r"\(([^()]*)\)")
NO_PLACE = re.compile(
    r"\b(?:hours?|required|preferred|speak(?:ing|er)|overlap|time ?zones?|tz)\b"
    r"|^(?:[EP]T|[ECMP][SD]T|CES?T|GMT|UTC|BST|IST)\b",
    re.IGNORECASE,
)
"""Languages to speak and hours to keep, which stand where places do."""
SMALL = frozenset({"or", "and", "de", "of", "the", "in"})
EDGES = " -–—·,;:/&+"  # noqa: RUF001
LONGEST = 120


def read_header(line: str) -> CommentHeader | None:
    """The parts of a first line; None where it has none, or names nobody."""
    parts = [part for part in (one.strip(EDGES) for one in re.split(r"[|¦]", line)) if part]
    if len(parts) < 2:
        return None
    header = CommentHeader(
        _name(parts[0]), line=html_text.single_line(ADDRESS.sub("", line)) or line
    )
    unclear = [part for part in map(_bare, parts[1:]) if part and not _classify(part, header)]
    if not header.roles and unclear and ENDS_AS_ROLE.search(header.company):
        header.roles, header.company = [header.company], _name(unclear.pop(0))
    if not header.roles and unclear and not _place_like(unclear[0]):
        header.roles.append(unclear.pop(0)[:LONGEST])
    header.places += [part for part in unclear if _place_like(part)]
    return header if 0 < len(header.company) <= LONGEST else None


def _bare(part: str) -> str:
    return ADDRESS.sub("", part).strip(EDGES)


def _name(part: str) -> str:
    """A company without its address and asides: "Acme (YC S20, acme.com)"."""
    for plain in (ASIDE.sub("", ADDRESS.sub("", part)), ASIDE.sub("", part), part):
        if name := html_text.single_line(plain.strip(EDGES)):
            return name
    return ""


def _classify(part: str, header: CommentHeader) -> bool:
    """Whether the part is known for what it is; then the header has it."""
    if len(part) > 2 * LONGEST:
        return True  # A sentence: it says none of these outright.
    if EMPLOYMENT.fullmatch(part):
        header.employment_type = header.employment_type or employment.parse_employment_type(part)
    elif re.match(r"\W*[$€£¥]", part) or (MONEY.search(part) and not ROLE.search(part)):
        header.salary = header.salary or salary.from_text(part)
        header.arrangement = header.arrangement or _said(part)
    elif WHERE.search(part) and not ROLE.search(WHERE.sub("", ASIDE.sub("", part))):
        _arrange(part, header)
    elif VISA.search(part):
        pass
    elif ROLE.search(part) and len(part) <= LONGEST:
        header.roles.append(part)
    else:
        return False
    return True


def _said(part: str) -> Arrangement | None:
    found = WHERE.search(part)
    return work_arrangement.from_label(found[0]) if found else None


def _arrange(part: str, header: CommentHeader) -> None:
    """ "Remote (EMEA)", "ONSITE in Berlin, full-time", "Remote or NYC": how, and where."""
    header.arrangement = header.arrangement or work_arrangement.from_label(part)
    if header.arrangement == "remote":
        inside = [one for one in ASIDE.findall(part) if _place_like(FILLER.sub("", one))]
        header.remote_from += location_text.split_locations(
            "; ".join(FILLER.sub("", one) for one in inside)
        )
    kept: list[str] = []
    for token in re.split(r",| - |/", WHERE.sub(",", ASIDE.sub("", part))):
        word = FILLER.sub("", token).strip(EDGES + "()")
        if EMPLOYMENT.fullmatch(token) and word:
            header.employment_type = header.employment_type or employment.parse_employment_type(
                word
            )
        elif _place_like(word) and not VISA.search(word):
            kept.append(word)
    if kept:
        header.places.append(", ".join(kept))


def _place_like(part: str) -> bool:
    """ "Berlin, Germany", "NYC", "San Francisco": short, and each word a name."""
    words = re.findall(r"[^\W\d_]+", part) if not NO_PLACE.search(part) else []
    return 0 < len(words) <= 12 and all(one[0].isupper() or one in SMALL for one in words)


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
