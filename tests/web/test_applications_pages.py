"""Applications: the board, the page of one application, and CSV."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from dataclasses import replace

import httpx2
import pytest

from jobmill.db import Database
from jobmill.matching import matches
from jobmill.matching.job_applications import (
    board,
    custom_statuses,
    details,
    entries,
    files,
    followups,
)
from jobmill.matching.matches import MatchId
from tests.matching import judged

PDF = b"%PDF-1.4 resume"


async def make(
    database: Database, count: int = 1, status: matches.Status = "applied"
) -> list[MatchId]:
    """Matches with this status."""
    made: list[MatchId] = []
    async with database.transaction() as tx:
        place = await judged.make(tx, listings=count)
        for listing in place.listings:
            id = await matches.save_verdict(tx, place.word(90, listing))
            assert id is not None
            await matches.set_status(tx, id, status)
            made.append(id)
    return made


async def read_events(database: Database, id: int) -> list[str]:
    async with database.transaction() as tx:
        return [event.what for event in await matches.read_events(tx, id)]


def seen_of(page: httpx2.Response, id: int) -> str:
    [seen] = re.findall(rf'data-card="{id}" data-seen="([^"]+)"', page.text)
    return seen


async def test_a_card_moves_through_all_columns_and_an_outdated_page_is_refused(
    site: httpx2.AsyncClient, database: Database
) -> None:
    [id] = await make(database, status="saved")
    old = await site.get("/matches/board")
    assert (old.status_code, old.headers["location"]) == (308, "/applications")
    form = {"status_name": "Phone screen", "counts_as": "interviewing", "shown_after": "applied"}
    assert (await site.post("/applications/statuses", data=form)).status_code == 303
    assert (await site.post("/applications/statuses", data=form)).status_code == 409
    page = await site.get("/applications")
    columns = re.findall(r'data-column="([^"]+)"', page.text)
    custom = columns[2]
    assert columns == ["saved", "applied", custom, "interviewing", "offer", "rejected"]
    first_seen = seen_of(page, id)
    for column in [*columns[1:], "saved"]:
        seen = seen_of(await site.get("/applications"), id)
        moved = await site.post(f"/applications/{id}/move", data={"column": column, "seen": seen})
        assert (moved.status_code, moved.headers["location"]) == (303, f"/applications?done={id}")
        async with database.transaction() as tx:
            status = (await matches.get(tx, id)).status
            assert await custom_statuses.find_key(tx, id) == column
        assert status == ("interviewing" if column == custom else column)
    refused = await site.post(
        f"/applications/{id}/move", data={"column": "offer", "seen": first_seen}
    )
    assert refused.status_code == 409
    assert "was moved in the meantime" in refused.text
    unknown = await site.post(f"/applications/{id}/move", data={"column": "custom-999"})
    assert unknown.status_code == 400
    async with database.transaction() as tx:
        assert (await matches.get(tx, id)).status == "saved"


async def test_undo_restores_a_custom_status_and_a_removed_one_leaves_its_cards(
    site: httpx2.AsyncClient, database: Database
) -> None:
    [id] = await make(database)
    form = {"status_name": "On hold", "counts_as": "applied", "shown_after": "applied"}
    await site.post("/applications/statuses", data=form)
    [custom] = re.findall(r'data-column="(custom-\d+)"', (await site.get("/applications")).text)
    await site.post(f"/applications/{id}/move", data={"column": custom})
    await site.post(f"/applications/{id}/move", data={"column": "dismissed"})
    page = await site.get(f"/applications?done={id}")
    assert "Dismissed recently" in page.text
    await site.post(f"/applications/{id}/undo")
    async with database.transaction() as tx:
        assert await custom_statuses.find_key(tx, id) == custom
    removed = await site.post(f"/applications/statuses/{custom.removeprefix('custom-')}/remove")
    assert removed.status_code == 303
    async with database.transaction() as tx:
        assert await custom_statuses.find_key(tx, id) == "applied"
    assert "custom status removed" in await read_events(database, id)


async def test_notes_contacts_and_dates_are_kept_once_and_removed_with_undo(
    site: httpx2.AsyncClient, database: Database
) -> None:
    [id] = await make(database)
    path = f"/applications/{id}"
    for _ in range(2):
        assert (
            await site.post(f"{path}/notes", data={"body": "Call <b>Ann</b>"})
        ).status_code == 303
    page = await site.get(path)
    assert page.text.count('class="note"') == 1
    assert "Call &lt;b&gt;Ann&lt;/b&gt;" in page.text
    async with database.transaction() as tx:
        [note] = await entries.find_notes(tx, id)
    edit = {"body": "Call Bea", "version": "1"}
    assert (await site.post(f"{path}/notes/{note.id}", data=edit)).status_code == 303
    lost = await site.post(f"{path}/notes/{note.id}", data=edit | {"body": "Call Cy"})
    assert lost.status_code == 409
    assert "Call Cy</textarea>" in lost.text
    removed = await site.post(f"{path}/notes/{note.id}/remove")
    page = await site.get(removed.headers["location"])
    assert ("Call Bea" in page.text, f"{path}/notes/{note.id}/restore" in page.text) == (
        False,
        True,
    )
    await site.post(f"{path}/notes/{note.id}/restore")
    assert "Call Bea" in (await site.get(path)).text

    contact = {"contact_name": "Ann Lee", "email": "ann@example.org", "link": "https://x.example"}
    for _ in range(2):
        assert (await site.post(f"{path}/contacts", data=contact)).status_code == 303
    bad = await site.post(f"{path}/contacts", data=contact | {"link": "javascript:alert(1)"})
    assert bad.status_code == 400
    page = await site.get(path)
    assert page.text.count("<b>Ann Lee</b>") == 1
    async with database.transaction() as tx:
        [ann] = await entries.find_contacts(tx, id)
    edit = contact | {"contact_name": "Ann Lo", "role": "Recruiter", "seen": ann.seen}
    assert (await site.post(f"{path}/contacts/{ann.id}", data=edit)).status_code == 303
    lost = await site.post(f"{path}/contacts/{ann.id}", data=edit | {"role": "Boss"})
    assert lost.status_code == 409
    assert re.search(
        r'<details open><summary>Edit.*?name="role"[^>]* value="Boss"', lost.text, re.DOTALL
    )
    async with database.transaction() as tx:
        [edited] = await entries.find_contacts(tx, id)
    assert edited == replace(ann, name="Ann Lo", role="Recruiter")
    await site.post(f"{path}/contacts", data=contact)
    same = await site.post(f"{path}/contacts/{ann.id}", data=contact | {"seen": edited.seen})
    assert (same.status_code, "already a contact with this name" in same.text) == (409, True)

    dates = {"version": "0", "applied_on": "2026-11-02", "interview_at": "2026-11-20T14:30",
             "next_step": "Send thanks", "next_step_on": "2026-11-03"}  # fmt: skip
    assert (await site.post(f"{path}/details", data=dates)).status_code == 303
    assert (await site.post(f"{path}/details", data=dates | {"next_step": "x"})).status_code == 409
    for wrong in ({"applied_on": "soon"}, {"interview_at": "late"}, {"next_step": ""}):
        refused = await site.post(f"{path}/details", data=dates | wrong)
        assert refused.status_code == 400
        for name, typed in (dates | wrong).items():
            assert re.search(f'name="{name}"[^>]* value="{typed}"', refused.text), name
    # The default time zone of a profile is Los Angeles, eight hours behind UTC in November.
    page = await site.get(path)
    assert "Interview (America/Los_Angeles)" in page.text
    assert 'name="interview_at" value="2026-11-20T14:30"' in page.text
    async with database.transaction() as tx:
        interview = (await details.get(tx, id)).interview_at
    assert interview == dt.datetime(2026, 11, 20, 22, 30, tzinfo=dt.UTC)
    async with database.transaction() as tx:
        [step] = await followups.due(tx)
        assert (step.match_id, step.step) == (id, "Send thanks")
    assert "1 next step is due" in (await site.get("/applications")).text
    await site.post(f"{path}/step-done")
    async with database.transaction() as tx:
        assert await followups.due(tx) == []
    assert await read_events(database, id) == [
        "created", "status", "note added", "note edited", "note removed", "note restored",
        "contact saved", "contact saved", "contact edited", "contact saved", "details", "step done",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        ("cv.pdf", PDF, 303),
        ("letter.txt", "Straße".encode(), 303),
        ("cv.html", b"<script>alert(1)</script>", 400),
        ("cv.pdf", b"<script>alert(1)</script>", 400),
        ("cv.svg", b"<svg onload=alert(1)>", 400),
        ("cv.txt", b"\xff\xfe\0", 400),
        ("cv.pdf", b"", 400),
        ("cv.pdf", PDF + b"x" * files.MAX_BYTES, 400),
        ("cv.pdf", PDF + b"x" * 7_000_000, 413),
    ],
)
async def test_files_are_checked_and_served_as_downloads_only(
    site: httpx2.AsyncClient, database: Database, name: str, data: bytes, status: int
) -> None:
    [id] = await make(database)
    path = f"/applications/{id}/files"
    for _ in range(2):
        answer = await site.post(path, files={"file": (f"..\\../{name}", data)})
        assert answer.status_code == status
    async with database.transaction() as tx:
        stored = await files.find_all(tx, id)
    assert [file.name for file in stored] == ([name] if status == 303 else [])
    for file in stored:
        sent = await site.get(f"{path}/{file.id}")
        assert sent.content == data
        assert sent.headers["content-disposition"] == f"attachment; filename*=UTF-8''{name}"
        assert sent.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in sent.headers["content-security-policy"]


async def test_csv_is_previewed_imported_once_and_exported(
    site: httpx2.AsyncClient, database: Database
) -> None:
    [id] = await make(database)
    text = (
        "title,company,url,status,applied_on,notes,next_step\n"
        'Cook,Acme,https://acme.example/jobs/1234,interviewing,2026-11-02,"=1+1\nCall Ann",+Ring\n'
        "Cook,Acme,https://acme.example/jobs/1234,offer,,,\n"
        "Baker,Bun & Co,,,,,\n"
        "baker,BUN & CO,,,,,\n"
        "Driver,Cars,,hired,,,\n"
        "Driver,Cars,,,soon,,\n"
        "Driver,Cars,javascript:alert(1),,,,\n"
    )
    preview = await site.post("/applications/import", data={"text": text})
    assert preview.status_code == 200
    assert (
        "To add: 2. Already in your applications or repeated: 2. Cannot be imported: 3."
        in preview.text
    )
    async with database.transaction() as tx:
        assert len(await board.find_all(tx, 1)) <= 1
    for _ in range(2):
        done = await site.post("/applications/import", data={"text": text, "confirmed": "yes"})
        assert done.status_code == 303
    export = await site.get("/applications/export.csv")
    rows = {row["title"]: row for row in csv.DictReader(io.StringIO(export.text))}
    assert len(rows) == 3
    cook = rows["Cook"]
    assert (cook["status"], cook["applied_on"]) == ("interviewing", "2026-11-02")
    assert (cook["notes"], cook["next_step"]) == ("'=1+1\nCall Ann", "'+Ring")
    assert rows["Baker"]["status"] == "applied"
    again = await site.post("/applications/import", data={"text": export.text})
    assert (
        "To add: 0. Already in your applications or repeated: 3. Cannot be imported: 0."
        in again.text
    )
    page = await site.get("/applications")
    assert "Reply rate: 33% (1 of 3 applications)" in page.text
    newest_week = page.text.partition('class="bar-groups"')[2].split("<li>")[-1]
    assert re.findall(r"<b>(\d+)</b>", newest_week) == ["2"]
    assert re.search(r"<small aria-hidden=\"true\">\d\d \w+</small>", newest_week)
    assert f'id="application-{id}"' in page.text


@pytest.mark.parametrize(
    "data",
    [b"", b"a,b\n1,2", b"\xff\xfet\0", b'title,company\n"x', b"title,company\n" + b"A,B\n" * 501,
     b"title,company\n" + b"x" * 600_000, b"\0title,company\nA,B"],
)  # fmt: skip
async def test_a_hostile_csv_file_is_refused(
    site: httpx2.AsyncClient, database: Database, data: bytes
) -> None:
    await make(database)
    answer = await site.post("/applications/import", files={"file": ("a.csv", data)})
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
