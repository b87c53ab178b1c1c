"""Remote OK: the newest remote postings. The site requires credit by name and link."""

from __future__ import annotations

import re

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, html_text, salary
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request

from ..platform import BoardPage, Config, Platform


class RemoteOkFeed(Config):
    tag: str = ""
    """Only postings with this tag."""


class _Item(ExternalRecord):
    id: str
    position: Line
    url: Link = None
    apply_url: Link = None
    company: Maybe[str] = None
    location: Maybe[str] = None
    tags: Many[str] = ()
    date: Maybe[str] = None
    epoch: Maybe[int] = None
    salary_min: Maybe[float] = None
    salary_max: Maybe[float] = None
    description: Maybe[str] = None


# UTF-8 that was decoded as Latin-1 or Windows-1252: "donâ€™t", "cafÃ©".
_GARBLED = re.compile(
    "[\u00c2\u00c3][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"  # noqa: RUF001
    "|\u00e2[\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]{2}"  # noqa: RUF001
    "|\u00f0[\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]{3}"  # noqa: RUF001
)
# The word and the tag, which encodes the reader's IP address, change with every request.
_READER_MARKS = re.compile(r"(?<=mention the word) \*\*.{1,40}\*\*|(?<=and tag) \S+| ?\(#\S+\)")


def first_request(config: RemoteOkFeed) -> Request:
    tags = f"?tags={re.sub(r'[^a-z0-9-]+', '-', config.tag.lower())}" if config.tag else ""
    return Request(f"https://remoteok.com/api{tags}")


def read(body: bytes, request: Request, config: RemoteOkFeed) -> BoardPage:
    """The feed; its first element is a legal notice."""
    items = [item for item in lenient_models.parse_json_list(body) if not _is_notice(item)]
    records, stubs = lenient_models.parse_records(_Item, items)
    return BoardPage(tuple(map(_posting, records)), total=len(items), stubs=stubs)


def _is_notice(item: object) -> bool:
    return isinstance(item, dict) and "legal" in item and "position" not in item


def _posting(item: _Item) -> Posting:
    description = html_text.from_html(fix_encoding(item.description))
    return Posting(
        title=fix_encoding(item.position) or "",
        url=item.url or "",
        company=html_text.single_line(fix_encoding(item.company)),
        location=(html_text.single_line(fix_encoding(item.location)) or "").strip(", ") or None,
        arrangement="remote",
        posted_at=dates.parse_date(item.date or item.epoch),
        salary=salary.from_fields(item.salary_min, item.salary_max, "USD", "year"),
        description=_without_reader_marks(description) if description else None,
        apply_url=item.apply_url,
        vendor_id=item.id,
        tags=item.tags,
        via="Remote OK",
    )


def _without_reader_marks(description: str) -> str:
    """The description without the words that the site generates for each reader."""
    start = description.rfind("Please mention the word **")
    return (
        description
        if start < 0
        else description[:start] + _READER_MARKS.sub("", description[start:])
    )


def fix_encoding(text: str | None) -> str | None:
    """The text with characters repaired that were decoded with the wrong encoding."""
    return _GARBLED.sub(_decode, text) if text else text


def _decode(run: re.Match[str]) -> str:
    raw = b"".join(
        sign.encode("latin-1") if ord(sign) < 256 else sign.encode("cp1252") for sign in run[0]
    )
    sign = raw.decode("utf-8", "ignore")
    # The result would be a control character: the text was correct.
    return sign if sign and not "\x80" <= sign < "\xa0" else run[0]


PLATFORM = Platform(
    name="remoteok",
    title="Remote OK",
    posting_ids=PostingIds(aggregator=True),
    config=RemoteOkFeed,
    token=lambda config: config.tag or "all",
    first_request=first_request,
    read=read,
    inventory=False,
)
