"""Approvals and the effect of a decision."""

from __future__ import annotations

from typing import Any

import pytest

from jobmill import app, queue
from jobmill.catalog import approvals, companies, history, sources
from jobmill.catalog.approvals import ApprovalRef
from jobmill.catalog.companies import CompanyId
from jobmill.db import Database, Tx
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.pipelines import approval
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.catalog.helpers import make_source
from tests.queue.helpers import fetch


async def make_board(tx: Tx, name: str = "Wells & Co", **facts: Any) -> CompanyId:
    id = await companies.get_or_create(tx, name)
    board = {"url": "https://wells.example/careers", "confidence": "medium"} | facts
    await tx.execute(
        """
        UPDATE catalog.company
           SET job_board_url = %(url)s, job_board_confidence = %(confidence)s,
               job_board_type = 'html', job_board_evidence = 'a page about work'
         WHERE id = %(id)s
        """,
        {"id": id, **board},
    )
    return id


async def refs(tx: Tx, **how: Any) -> list[str]:
    return [str(approval.ref) for approval in await approvals.find(tx, **how)]


async def test_only_undecided_uncertain_boards_and_sources_need_approval(tx: Tx) -> None:
    board = await make_board(tx)
    await make_board(tx, "Sure Inc", confidence="high")
    unsure = await make_board(tx, "Found Ltd")
    waiting = await make_source(tx, enabled=False, company_id=unsure)
    await make_source(tx)
    rejected = await make_source(tx, enabled=False)
    await sources.reject(tx, rejected, "spam")
    assert await refs(tx) == [f"board:{board}", f"source:{waiting}"]
    assert await refs(tx, noun="source") == [f"source:{waiting}"]


async def test_approvals_are_paged(tx: Tx) -> None:
    boards = [await make_board(tx, f"Company {n}") for n in range(2)]
    waiting = [await make_source(tx, enabled=False) for _ in range(2)]
    expected = [*(f"board:{id}" for id in boards), *(f"source:{id}" for id in waiting)]
    pages: list[str] = []
    while part := await refs(tx, limit=1, after=approvals.parse_ref(pages[-1]) if pages else None):
        pages += part
    assert pages == expected


async def test_an_approved_source_runs_and_a_rejection_can_be_undone(tx: Tx) -> None:
    ref = ApprovalRef("source", await make_source(tx, enabled=False))
    rejected = await approvals.reject(tx, ref, "spam", actor="Ada")
    assert (rejected.state, await refs(tx)) == ("rejected", [])
    approved = await approvals.approve(tx, ref, actor="Bo")
    assert approved.state == "approved"
    assert (await sources.get(tx, ref.id)).enabled
    with pytest.raises(Conflict, match="already enabled"):
        await approvals.approve(tx, ref)
    events = [
        (event.what, event.actor) for event in await history.find_events(tx, "source", ref.id)
    ]
    assert events == [("created", None), ("rejected", "Ada"), ("enabled", "Bo")]


async def test_a_successful_test_does_not_override_a_persons_decision(tx: Tx) -> None:
    waiting, rejected = [await make_source(tx, enabled=False) for _ in range(2)]
    await sources.reject(tx, rejected, "spam")
    assert await sources.enable_after_test(tx, waiting)
    assert not await sources.enable_after_test(tx, rejected)
    assert (await sources.get(tx, waiting)).enabled
    assert (await sources.get(tx, rejected)).status == "rejected"


async def test_a_decided_board_is_not_proposed_again(tx: Tx) -> None:
    ref = ApprovalRef("board", await make_board(tx))
    assert (await approvals.reject(tx, ref, "spam", actor="Ada")).state == "rejected"
    assert await refs(tx) == []
    with pytest.raises(Conflict, match="already rejected"):
        await approvals.reject(tx, ref, "spam")
    assert (await approvals.approve(tx, ref, actor="Ada")).state == "approved"
    events = await history.find_events(tx, "company", ref.id)
    assert [event.what for event in events[1:]] == ["board rejected", "board approved"]
    assert events[1].data == {"reason": "spam"}


async def test_an_unknown_source_or_board_cannot_be_decided(tx: Tx) -> None:
    bare = await companies.get_or_create(tx, "No Board Inc")
    for ref in (ApprovalRef("source", 999), ApprovalRef("board", 999), ApprovalRef("board", bare)):
        with pytest.raises(NotFound):
            await approvals.approve(tx, ref)
        with pytest.raises(NotFound):
            await approvals.reject(tx, ref, "x")


@pytest.mark.parametrize("text", ["12", "source:", "source:x", "company:1", "source:1 2", ""])
def test_an_invalid_reference_explains_the_format(text: str) -> None:
    with pytest.raises(Invalid, match="source:12"):
        approvals.parse_ref(text)


def test_references_are_parsed_as_they_are_printed() -> None:
    for ref in (ApprovalRef("source", 12), ApprovalRef("board", 7)):
        assert approvals.parse_ref(str(ref)) == ref


async def declared(database: Database) -> None:
    await app.declare_stages(Tools(database), Settings())


async def test_approving_a_board_starts_detection_and_approving_a_source_a_run(
    database: Database,
) -> None:
    await declared(database)
    async with database.transaction() as tx:
        board = ApprovalRef("board", await make_board(tx))
        source = ApprovalRef("source", await make_source(tx, enabled=False))
        looked = await approval.approve(tx, board, actor="Ada")
        first = await approval.approve(tx, source, actor="Ada")
    ((kind, data),) = await fetch(
        database, "SELECT kind, data FROM queue.items WHERE id = %s", [looked.item]
    )
    config = data["source_discovery_config"]
    assert (kind, data["approved"], data["by"]) == ("source_discovery", True, "Ada")
    assert (config["url"], config["company_id"]) == ("https://wells.example/careers", board.id)
    assert config["validation_required"] is False
    assert await fetch(database, "SELECT key FROM queue.items WHERE id = %s", [first.item]) == [
        str(source)
    ]


async def test_an_approval_counts_even_if_the_work_is_already_queued(database: Database) -> None:
    await declared(database)
    async with database.transaction() as tx:
        ref = ApprovalRef("board", await make_board(tx))
        first = await approval.approve(tx, ref)
        await approval.reject(tx, ref, "changed my mind")
        again = await approval.approve(tx, ref)
    assert (again.state, again.item) == ("approved", first.item)


async def test_a_full_queue_refuses_the_approval_instead_of_losing_it(database: Database) -> None:
    tools = Tools(database)
    table = app.build_stages(tools, Settings(queue_capacity=1))
    async with database.transaction() as tx:
        await queue.declare_stages(tx, table)
        first = ApprovalRef("board", await make_board(tx))
        await approval.approve(tx, first)
        second = ApprovalRef(
            "board", await make_board(tx, "Brine", url="https://brine.example/jobs")
        )
    with pytest.raises(Conflict, match="try again later"):
        async with database.transaction() as tx:
            await approval.approve(tx, second)
    async with database.transaction() as tx:
        assert await refs(tx) == [str(second)]
