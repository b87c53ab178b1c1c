"""Postings in the data of page scripts."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from jobmill.extract.page import page_reader

URL = "https://jobs.example/o/cartographer"

RECORD: dict[str, Any] = {
    "id": 12,
    "jobTitle": "Cartographer",
    "description_html": "<p>" + "Draw every coast that has none yet. " * 6 + "</p>",
    "location": {"city": "Bergen", "country": {"name": "Norway"}},
    "company": {"name": "Fjordkart"},
    "published_at": "2026-02-01T08:00:00Z",
    "employmentType": "Full-time",
}
STATE: dict[str, Any] = {"props": {"pageProps": {"menu": [{"title": "Home"}], "job": RECORD}}}

NUXT = [
    {"data": 1},
    {"title": 2, "description": 3, "location": 4, "company": 5, "employmentType": 6},
    "Cartographer",
    "Draw every coast that has none yet. " * 6,
    "Bergen, Norway",
    {"name": 7},
    "Full-time",
    "Fjordkart",
    *range(100, 120),
]

STREAM = "3:" + json.dumps(["$", "div", None, {"posting": RECORD}]) + "\n"


@pytest.mark.parametrize(
    "script",
    [
        f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(STATE)}</script>',
        f"<script>window.__INITIAL_STATE__ = {json.dumps(STATE)};\nfetch('/x')</script>",
        f"<script>var a=1; window.app.boot({json.dumps(STATE)}, true)</script>",
        f"<script>window.__STATE__ = JSON.parse({json.dumps(json.dumps(STATE))})</script>",
        f'<script type="application/json" id="__NUXT_DATA__">{json.dumps(NUXT)}</script>',
        "".join(
            f"<script>self.__next_f.push({json.dumps([1, part])})</script>"
            for part in (STREAM[:90], STREAM[90:])
        ),
    ],
    ids=["next", "assigned", "handed on", "parsed", "nuxt", "streamed"],
)
def test_the_record_that_looks_like_a_posting_is_read(script: str) -> None:
    reading = page_reader.read_posting(
        f"<title>Fjordkart</title><body><div id=app></div>{script}</body>", URL
    )

    assert reading.method == "state"
    posting = reading.posting
    assert posting is not None
    assert (posting.title, posting.company, posting.location) == (
        "Cartographer",
        "Fjordkart",
        "Bergen, Norway",
    )
    assert posting.employment_type == "full_time"
    assert posting.description is not None
    assert posting.description.startswith("Draw every coast")
    assert posting.posted_at in (None, dt.datetime(2026, 2, 1, 8, tzinfo=dt.UTC))


def test_of_several_records_the_page_title_decides() -> None:
    records = [RECORD | {"jobTitle": name} for name in ("Surveyor", "Cartographer", "Printer")]
    script = f"<script type='application/json'>{json.dumps(records)}</script>"

    named = page_reader.read_posting(
        f"<title>Cartographer | Fjordkart</title>{script}", URL
    ).posting
    unnamed = page_reader.read_posting(f"<title>Fjordkart</title>{script}", URL).posting

    assert named is not None
    assert named.title == "Cartographer"
    assert unnamed is None


def test_a_record_with_only_a_title_and_a_place_is_not_a_posting() -> None:
    event = {"title": "Map fair", "description": RECORD["description_html"], "location": "Bergen"}
    html = f"<title>x</title><script type='application/json'>{json.dumps(event)}</script>"

    assert page_reader.read_posting(html, URL).posting is None
