"""Which sources are enabled without approval, and careers pages with detected selectors."""

from __future__ import annotations

from typing import Any

import pytest

from jobmill.boards import add_source
from jobmill.boards.adapters import BY_NAME
from jobmill.boards.platform import Confidence
from jobmill.catalog import sources
from jobmill.db import Database
from jobmill.errors import OutsideError
from jobmill.tools import Tools
from tests.fakes import Net, ok
from tests.recorded_calls import recorded_calls

from .selectors import pages

URL = "https://wells.example/careers"


@pytest.mark.parametrize(
    ("platform", "confidence", "facts", "runs"),
    [
        # Greenhouse and feeds: a valid response is enough.
        ("greenhouse", "high", {"validated": True}, True),
        ("rss", "high", {"validated": True}, True),
        ("greenhouse", "high", {}, False),
        ("greenhouse", "high", {"validated": True, "auto": False}, False),
        ("greenhouse", "high", {"validated": True, "tested": True, "ask": True}, False),
        ("rss", "medium", {"validated": True, "tested": True}, False),
        ("greenhouse", "low", {"validated": True, "tested": True}, False),
        # Workday: a successful test is required, however the board was detected.
        ("workday", "high", {"validated": True}, False),
        ("workday", "high", {"validated": True, "tested": True}, True),
        ("workday", "medium", {"tested": True}, True),
        ("workday", "low", {"validated": True, "tested": True}, False),
        ("workday", "medium", {"tested": True, "auto": False}, False),
        # All others: certain and tested, or approved by a person.
        ("lever", "high", {"validated": True}, False),
        ("lever", "high", {"tested": True}, True),
        ("lever", "medium", {"validated": True, "tested": True}, False),
        ("html", "medium", {"validated": True, "tested": True}, False),
        ("html", "low", {"validated": True, "tested": True}, False),
        # Approved by a person: only a test is required.
        ("html", "low", {"tested": True, "approved": True}, True),
        ("html", "low", {"validated": True, "approved": True}, False),
        ("lever", "medium", {"tested": True, "approved": True}, True),
        ("workday", "medium", {"approved": True}, False),
    ],
)
def test_only_certain_or_approved_sources_are_enabled(
    platform: str, confidence: Confidence, facts: dict[str, Any], runs: bool
) -> None:
    arguments = {"validated": False, "tested": False} | facts
    assert add_source.may_enable(BY_NAME[platform], confidence, **arguments) is runs


def net() -> Net:
    net = Net()
    net.on(URL, ok(pages.cards(), URL))
    return net


async def test_a_careers_page_is_added_with_detected_selectors(database: Database) -> None:
    for request in (
        add_source.SourceRequest(url=URL),
        add_source.SourceRequest(url=URL, platform="html"),
    ):
        added = await add_source.add_source(Tools(database, net()), request, {})
        assert (added.platform, added.token, added.postings) == ("html", URL, 4)
        assert added.status == "pending_validation"
        found = "4 jobs found on this page; for example Pump Engineer and Senior Backend Developer"
        assert found in added.evidence
    async with database.transaction() as tx:
        (source,) = await sources.find(tx)
    assert source.config["selectors"]["job_list"] == "div.job-card"
    assert source.discovery_confidence == "medium"


async def test_a_page_without_a_list_is_refused_with_advice(database: Database) -> None:
    empty = Net()
    empty.on(URL, ok("<html><body><h1>Careers</h1><p>Write to us.</p></body></html>", URL))
    with pytest.raises(OutsideError, match="give the URL of the list itself") as refused:
        await add_source.add_source(Tools(database, empty), add_source.SourceRequest(url=URL), {})
    assert refused.value.permanent


async def test_the_board_of_a_named_platform_is_searched_in_a_child_process(
    database: Database,
) -> None:
    net = Net()
    links = (
        '<a href="https://jobs.lever.co/wells">Jobs</a><a href="https://wells.bamboohr.com">HR</a>'
    )
    net.on(URL, ok(links, URL))
    with recorded_calls() as calls:
        board = await add_source.detect_board_at(Tools(database, net), URL, hint="bamboohr")
    assert (board.platform, board.token) == ("bamboohr", "wells")
    assert not calls["detect_boards"]
