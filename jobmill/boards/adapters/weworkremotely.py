"""We Work Remotely: feeds of remote postings, titled "Company: Role"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting
from jobmill.errors import OutsideError
from jobmill.extract.fields import html_text
from jobmill.outside.request import Request

from ..platform import BoardPage, Platform
from . import rss
from .remotive import parse_restrictions


class WeWorkRemotelyFeed(rss.FeedConfig):
    """The feed of all categories, or the one of a category by its `url`."""

    url: str = "https://weworkremotely.com/remote-jobs.rss"
    parse_format: Literal["standard", "title_company", "title_at_company"] = "title_company"
    location_field: str = "region"


APPLY = re.compile(
    r"to apply:?.{0,200}?href=[\"'](https?://[^\"'<>\s]+)", re.IGNORECASE | re.DOTALL
)


def read(body: bytes, request: Request, config: WeWorkRemotelyFeed) -> BoardPage:
    found, cut = rss.parse_entries(body)
    base = request.url or config.url
    postings = [
        _posting(one, entry) for entry in found if (one := rss.read_entry(entry, base, config))
    ]
    if found and not postings:
        raise OutsideError("no entry of the feed has a title and a link", permanent=True)
    return BoardPage(tuple(postings), truncated=cut, stubs=len(found) - len(postings))


def _posting(one: Posting, entry: rss.Entry) -> Posting:
    # The country has its flag before it.
    country = html_text.single_line(re.sub(r"^[^A-Za-z]+", "", entry.get("country") or ""))
    regions = parse_restrictions(one.location)
    # Pages of postings refuse programs: the only way to apply stands at the end of the text.
    apply = APPLY.search(entry.get("summary") or "")
    return replace(
        one,
        arrangement="remote",
        remote_from=regions if not country or country in regions else (*regions, country),
        apply_url=apply[1] if apply else None,
        via="We Work Remotely",
    )


PLATFORM = Platform(
    name="weworkremotely",
    title="We Work Remotely",
    posting_ids=PostingIds(aggregator=True),
    config=WeWorkRemotelyFeed,
    token=lambda config: config.url.rpartition("/")[2].removesuffix(".rss"),
    first_request=rss.first_request,
    read=read,
    inventory=False,
)
