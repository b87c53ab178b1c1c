"""Looking for a site's postings: one link further, in a browser, with a model's help."""

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
    """A model that says what it is told to."""

    def __init__(self, says: dict[str, Any] | ModelResult[Any]) -> None:
        self.says = says
        self.asked: list[ModelQuestion[Any]] = []

    async def __call__(self, ask: ModelQuestion[T]) -> ModelResult[T]:
        self.asked.append(ask)
        if isinstance(self.says, dict):
            return ModelAnswer(ask.answer_type.model_validate(self.says), "anthropic:cheap", None)
        return self.says


def odd() -> bytes:
    """A list that structure alone does not give: its titles name nobody who works."""
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


async def test_the_list_may_be_one_link_further() -> None:
    net = Net()
    net.on(URL, ok(pages.page('<a href="/careers/openings">See open positions</a>'), URL))
    net.on(f"{URL}/openings", ok(pages.table(), f"{URL}/openings"))
    found = await search_selectors(tools(net, Oracle({})), URL)
    assert found is not None
    assert found.config["url"] == f"{URL}/openings"


async def test_a_page_that_needs_a_browser_is_read_with_one() -> None:
    def play(request: Request) -> FetchResult:
        return ok(pages.cards() if request.render else SHELL, URL)

    net = Net()
    net.on(URL, play)
    found = await search_selectors(tools(net, Oracle({})), URL)
    assert found is not None
    assert found.config["method"] == "browser"


async def test_what_a_model_proposes_is_kept_only_if_it_holds_on_the_page() -> None:
    net = Net()
    net.on(URL, ok(pages.cards(), URL))
    body = pages.cards().replace(b"/careers/", b"/x/").replace(b"Careers", b"Work")
    hidden = body.replace(b'<div class="openings">', b'<aside class="openings">')
    net.on(URL, ok(hidden.replace(b"</div></main>", b"</aside></main>"), URL))
    good = {"job_list": ".job-card", "title": "h3", "link": "a.btn", "location": ".job-location"}
    found = await search_selectors(tools(net, Oracle(good | {"next_button": ".nowhere"})), URL)
    assert found is not None
    assert found.config["selectors"] == good
    assert "pagination" not in found.config
    assert "anthropic:cheap" in found.evidence

    for bad in (
        {"job_list": "nav li", "title": "a", "link": "a"},
        {"job_list": "[[", "title": "a"},
        {},
    ):
        assert await search_selectors(tools(net, Oracle(bad)), URL) is None


async def test_a_model_is_not_asked_where_structure_is_enough_or_the_page_is_a_shell() -> None:
    for body in (pages.cards(), SHELL):
        net, oracle = Net(), Oracle({})
        net.on(URL, ok(body, URL))
        await search_selectors(tools(net, oracle), URL)
        assert oracle.asked == []


async def test_without_a_model_nothing_is_found_and_a_spent_budget_waits_if_it_should() -> None:
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
async def test_a_page_that_does_not_answer_says_whether_it_may_later(
    cause: Any, permanent: bool
) -> None:
    net = Net()
    net.on(URL, FetchFailure(URL, cause, "no"))
    with pytest.raises(OutsideError) as failed:
        await search_selectors(tools(net, Oracle({})), URL)
    assert failed.value.permanent is permanent


def test_a_page_is_shown_to_the_model_by_its_bones() -> None:
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
