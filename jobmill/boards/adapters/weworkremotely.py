"""We Work Remotely: feeds of remote postings, titled "Company: Role"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting
from jobmill.extract.fields import html_text
from jobmill.outside.request import Request

from ..platform import BoardPage, Platform
from . import rss
from .remotive import parse_restrictions


class WeWorkRemotelyFeed(rss.FeedConfig):
    """The feed of all categories, or of one category by its `url`."""

    url: str = "https://weworkremotely.com/remote-jobs.rss"
    parse_format: Literal["standard", "title_company", "title_at_company"] = "title_company"
    location_field: str = "region"


_APPLY = re.compile(
    r"to apply:?.{0,200}?href=[\"'](https?://[^\"'<>\s]+)", re.IGNORECASE | re.DOTALL
)


def read(body: bytes, request: Request, config: WeWorkRemotelyFeed) -> BoardPage:
    return rss.read(body, request, config, _complete)


def _complete(posting: Posting, entry: rss.Entry) -> Posting:
    # The country starts with its flag.
    country = html_text.single_line(re.sub(r"^[^A-Za-z]+", "", entry.get("country") or ""))
    regions = parse_restrictions(posting.location)
    # Posting pages block programs: the only link to apply is at the end of the text.
    apply = _APPLY.search(entry.get("summary") or "")
    return replace(
        posting,
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
