"""The applicants and messages of all openings."""

from __future__ import annotations

from typing import get_args

import httpx2
import pytest

from jobmill.db import Database
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import application_list, withdrawals
from jobmill.hiring.applications.application_list import ApplicationFilter
from jobmill.hiring.messages.notices import NoticeKind, NoticeState
from jobmill.web.pages.hiring import applicant_list, message_list
from tests.hiring.helpers import apply, make_opening
from tests.web.hiring_helpers import look, text, texts

NAMES = ".listing tbody th a"


async def test_applicants_of_all_openings_are_searched_filtered_and_linked(
    site: httpx2.AsyncClient, database: Database
) -> None:
    empty = await look(site, "/hiring/applicants")
    assert "Nobody has applied yet" in text(empty, ".empty")
    async with database.transaction() as tx:
        miller_opening = await make_opening(tx, title="Miller <b>")
        baker_opening = await make_opening(tx, title="Baker")
        miller, baker = miller_opening.id, baker_opening.id
        first = await apply(tx, miller_opening)
        second = await apply(tx, miller_opening)
        third = await apply(tx, baker_opening)
        await withdrawals.withdraw(tx, third.application.id, LOCAL)
    page = await look(site, "/hiring/applicants")
    links = [link.attributes["href"] for link in page.css(NAMES)]
    assert links == [
        f"/hiring/{opening}/people/{placed.application.id}"
        for opening, placed in ((baker, third), (miller, second), (miller, first))
    ]
    for query, count in (
        ("q=baker", 1),
        ("q=<b>", 2),
        ("q=nobody", 0),
        ("status=INACTIVE", 1),
        ("status=WAITLIST", 1),
        (f"opening={miller}", 2),
        (f"opening={miller}&status=ACTIVE", 1),
        (f"before={second.application.id}", 1),
    ):
        page = await look(site, f"/hiring/applicants?{query}")
        assert len(page.css(NAMES)) == count, query
    await look(site, "/hiring/applicants?status=x", 422)


async def test_pages_of_applicants_reach_every_one_however_few_ids_one_searches(
    site: httpx2.AsyncClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, title="Miller")
        placed = [(await apply(tx, opening)).application.id for _ in range(7)]
        seen: list[int] = []
        before: int | None = None
        while True:
            found = await application_list.list_all(
                tx, ApplicationFilter(), before=before, limit=3, reach=2
            )
            seen += [row.application_id for row in found.rows]
            before = found.next
            if before is None:
                break
    assert seen == placed[::-1]
    monkeypatch.setattr(applicant_list, "PAGE_SIZE", 5)
    page = await look(site, "/hiring/applicants")
    [further] = page.css("a[rel=next]")
    assert len(page.css(NAMES)) == 5
    assert len((await look(site, further.attributes["href"] or "")).css(NAMES)) == 2


async def test_messages_are_listed_with_their_state_and_reason(
    site: httpx2.AsyncClient, database: Database
) -> None:
    assert "No messages yet" in text(await look(site, "/hiring/messages"), ".empty")
    async with database.transaction() as tx:
        opening = await make_opening(tx, title="Miller")
        for _ in range(3):
            await apply(tx, opening)
        cursor = await tx.execute("SELECT id FROM hiring.notice ORDER BY id")
        failed, sent, *_ = [id for (id,) in await cursor.fetchall()]
        await tx.execute(
            "UPDATE hiring.notice SET state = 'failed', detail = 'mailbox <i> full', attempts = 4,"
            " ended_at = now() WHERE id = %s",
            [failed],
        )
        await tx.execute(
            "UPDATE hiring.notice SET state = 'sent', ended_at = now() WHERE id = %s", [sent]
        )
    page = await look(site, "/hiring/messages")
    assert texts(page, ".listing tbody th") == ["Application received"] * 3
    assert texts(page, ".listing .badge") == ["Waiting", "Sent", "Failed"]
    for state, count in (("unsent", 1), ("sent", 1), ("failed", 1), ("dropped", 0)):
        shown = await look(site, f"/hiring/messages?state={state}")
        assert len(shown.css(".listing tbody tr")) == count, state
    shown = await look(site, "/hiring/messages?state=failed")
    assert "mailbox <i> full" in text(shown, ".listing")
    assert "4 attempts" in text(shown, ".listing")


def test_every_kind_and_state_of_a_message_has_a_name() -> None:
    assert set(message_list._kinds()) == set(get_args(NoticeKind))  # pyright: ignore[reportPrivateUsage]
    assert set(message_list._states()) == set(get_args(NoticeState))  # pyright: ignore[reportPrivateUsage]
