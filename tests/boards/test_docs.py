"""The docs about postings and platforms match the code."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from jobmill.boards import board_crawler
from jobmill.boards.platform import BoardConfig
from jobmill.boards.readable_board import ReadableBoard
from jobmill.catalog import posting_json
from jobmill.catalog.posting import Posting, Salary
from jobmill.errors import Invalid
from tests.fakes import Net, ok

from .test_board_crawler import NOW, no_listings

DOCS = Path(__file__).parents[2] / "docs"


async def test_the_example_platform_of_the_how_to_works(
    read_in_this_process: None,
) -> None:
    text = (DOCS / "how-to" / "add-a-platform.md").read_text()
    example = re.search(r"<!-- example: .*?```python\n(.*?)```", text, re.DOTALL)
    assert example
    module: dict[str, Any] = {"__name__": "hiringwells"}
    exec(compile(example[1], "example", "exec", dont_inherit=True), module)  # noqa: S102
    net = Net()
    api = "https://api.hiringwells.example/boards/acme"
    post = {"id": "7", "name": "Diver", "places": ["Porto"], "workplace": "Hybrid"}
    net.on(f"{api}?from=0", ok({"total": 2, "posts": [post, {"id": 8}]}))
    net.on(f"{api}/7", ok(json.dumps(post | {"text": "<p>You dive.</p>"})))
    target = ReadableBoard(module["PLATFORM"], BoardConfig(board_token="acme"), {})
    result = await board_crawler.crawl(net, target, no_listings, started_at=NOW)
    (seen_posting,) = result.postings
    assert (result.outcome, seen_posting.posting.description) == ("complete", "You dive.")
    assert seen_posting.posting.arrangement == "hybrid"


def test_the_posting_reference_names_every_field() -> None:
    text = (DOCS / "reference" / "posting.md").read_text()
    named = {
        name
        for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert named - {"field"} == set(posting_json.to_record(Posting("x")))
    for part in dataclasses.fields(Salary):
        assert f"`{part.name}`" in text


def test_an_invalid_field_is_dropped_and_the_posting_kept() -> None:
    odd = {
        "title": "x",
        "vendor_id": 7,
        "locations": "Porto",
        "salary": "much",
        "posted_at": "soon",
    }
    assert posting_json.from_record(odd) == Posting("x", vendor_id="7", locations=("Porto",))
    with pytest.raises(Invalid):
        posting_json.from_record({"title": ["x"]})


def test_a_posting_survives_conversion_to_json_and_back() -> None:
    pay = Salary(1, 2, "EUR", "year", "text")
    posting = Posting(
        "x", locations=("a", "b"), arrangement="remote", salary=pay, posted_at=NOW, tags=("t",)
    )
    assert (
        posting_json.from_record(json.loads(json.dumps(posting_json.to_record(posting)))) == posting
    )
