"""The search for a site's postings: on linked pages, in a browser, with a model."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from jobmill.boards.selectors import llm_selectors
from jobmill.boards.selectors.selector_search import search_selectors
from jobmill.errors import OutsideError
from jobmill.extract import html_tree
from jobmill.outside.model_question import (
    ModelAnswer,
    ModelBlocked,
    ModelFailed,
    ModelQuestion,
    ModelResult,
)
from jobmill.outside.request import FetchFailure, FetchResult, Request
from jobmill.queue import BlockedOn as Parked
from jobmill.tools import Tools
from tests.fakes import Net, ok

from . import pages

T = TypeVar("T", bound=BaseModel)
URL = "https://wells.example/careers"
SHELL = "<html><body><div id='root'></div></body></html>"


class Oracle:
    """A model that gives a fixed answer."""

    def __init__(self, says: dict[str, Any] | ModelResult[Any]) -> None:
        self.says = says
        self.asked: list[ModelQuestion[Any]] = []

    async def __call__(self, ask: ModelQuestion[T]) -> ModelResult[T]:
        self.asked.append(ask)
        if isinstance(self.says, dict):
            return ModelAnswer(ask.answer_type.model_validate(self.says), "anthropic:cheap", None)
        return self.says


def odd() -> bytes:
    """A list that structure alone does not find, because its titles name no roles."""
    return pages.page(
        '<div class="slots">'
        + "".join(
            f'<p class="slot"><b>{title}</b> <i>Porto</i> <a href="/x?n={n}">→</a></p>'
            for n, title in enumerate(("Water", "Sand", "Salt", "Stone"))
        )
        + '</div><a class="on" href="/careers?page=2">more</a>'
    )


def tools(net: Net, model: Any) -> Tools:
    return Tools(None, net, model)  # pyright: ignore[reportArgumentType]


async def test_a_linked_careers_page_is_searched() -> None:
    net = Net()
    net.on(URL, ok(pages.page('<a href="/careers/openings">See open positions</a>'), URL))
    net.on(f"{URL}/openings", ok(pages.table(), f"{URL}/openings"))
    choice = await search_selectors(tools(net, Oracle({})), URL)
    assert choice is not None
    assert choice.config["url"] == f"{URL}/openings"


@pytest.mark.parametrize(
    "link", ["http://[host]/jobs", "http://wells.example:0x/jobs", f"/jobs/{'x' * 9_999}"]
)
async def test_a_link_that_cannot_be_requested_hides_no_other(link: str) -> None:
    net = Net()
    links = f'<a href="{link}">All jobs</a><a href="/careers/openings">See open positions</a>'
    net.on(URL, ok(pages.page(links), URL))
    net.on(f"{URL}/openings", ok(pages.table(), f"{URL}/openings"))
    choice = await search_selectors(tools(net, Oracle({})), URL)
    assert choice is not None
    assert choice.config["url"] == f"{URL}/openings"


async def test_a_page_that_needs_javascript_is_read_in_a_browser() -> None:
    def play(request: Request) -> FetchResult:
        return ok(pages.cards() if request.render else SHELL, URL)

    net = Net()
    net.on(URL, play)
    choice = await search_selectors(tools(net, Oracle({})), URL)
    assert choice is not None
    assert choice.config["method"] == "browser"


async def test_selectors_of_a_model_are_used_only_if_they_work_on_the_page() -> None:
    net = Net()
    net.on(URL, ok(pages.cards(), URL))
    body = pages.cards().replace(b"/careers/", b"/x/").replace(b"Careers", b"Work")
    hidden = body.replace(b'<div class="openings">', b'<aside class="openings">')
    net.on(URL, ok(hidden.replace(b"</div></main>", b"</aside></main>"), URL))
    good = {"job_list": ".job-card", "title": "h3", "link": "a.btn", "location": ".job-location"}
    choice = await search_selectors(tools(net, Oracle(good | {"next_button": ".nowhere"})), URL)
    assert choice is not None
    assert choice.config["selectors"] == good
    assert "pagination" not in choice.config
    assert "anthropic:cheap" in choice.evidence

    for bad in (
        {"job_list": "nav li", "title": "a", "link": "a"},
        {"job_list": "[[", "title": "a"},
        {},
    ):
        assert await search_selectors(tools(net, Oracle(bad)), URL) is None


async def test_no_model_is_asked_if_structure_suffices_or_the_page_has_few_links() -> None:
    for body in (pages.cards(), SHELL):
        net, oracle = Net(), Oracle({})
        net.on(URL, ok(body, URL))
        await search_selectors(tools(net, oracle), URL)
        assert oracle.asked == []


async def test_without_a_model_nothing_is_found_and_a_spent_budget_blocks_if_configured() -> None:
    net = Net()
    net.on(URL, ok(odd(), URL))
    assert await search_selectors(tools(net, Oracle(ModelBlocked("no_key", "no key"))), URL) is None
    assert (
        await search_selectors(
            tools(net, Oracle(ModelFailed("server", "503", permanent=False))), URL
        )
        is None
    )
    with pytest.raises(Parked, match="spent"):
        await search_selectors(
            tools(net, Oracle(ModelBlocked("spent_out", "spent", use_local=False))), URL
        )


@pytest.mark.parametrize(("cause", "permanent"), [("robots", True), ("timeout", False)])
async def test_a_failed_page_is_permanent_or_temporary_by_its_cause(
    cause: Any, permanent: bool
) -> None:
    net = Net()
    net.on(URL, FetchFailure(URL, cause, "no"))
    with pytest.raises(OutsideError) as failed:
        await search_selectors(tools(net, Oracle({})), URL)
    assert failed.value.permanent is permanent


def test_the_model_gets_a_skeleton_of_the_page() -> None:
    rows = b"<li class='row'><script>var secret = 1</script><b>Cook &lt;1&gt;</b></li>" * 5_000
    shown = llm_selectors.skeleton(html_tree.parse_html(b"<main><ul>" + rows + b"</ul></main>"))
    assert shown.count('<li class="row">') == llm_selectors.MAX_SIMILAR_ELEMENTS
    assert "secret" not in shown
    assert "Cook &lt;1&gt;" in shown
    wide = b"".join(b"<p class='a%d'>%s</p>" % (n, b"word " * 50) for n in range(3_000))
    assert (
        len(llm_selectors.skeleton(html_tree.parse_html(b"<main>" + wide + b"</main>")))
        <= llm_selectors.MAX_SKELETON_LENGTH
    )
