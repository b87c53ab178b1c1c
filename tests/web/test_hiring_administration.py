"""Pages of hiring for files, blocked addresses, webhooks, verification, erasure and failed letters."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2

from jobmill.db import Database
from jobmill.hiring.audit_log import saved_heads
from jobmill.hiring.records import openings
from tests.call_counts import count_calls
from tests.hiring.helpers import make_opening
from tests.hiring.interview_helpers import make_times
from tests.queue.helpers import fetch, until_statements_wait
from tests.web.api.helpers import make_job
from tests.web.hiring_helpers import (
    HTML,
    attribute,
    fill,
    look,
    part,
    post,
    text,
    texts,
    the_opening,
)

PEOPLE = "name,email\nAda,ada@example.org\nBen,ben@example.org\nAda again,ADA@example.org\n"


async def upload(
    site: httpx2.AsyncClient, path: str, content: str, **fields: Any
) -> httpx2.Response:
    files = {"file": ("people.csv", content.encode(), "text/csv")}
    return await site.post(path, data=fields, files=files, headers=HTML)


async def confirm(site: httpx2.AsyncClient, path: str, content: str, key: str) -> httpx2.Response:
    fields = {"text": content, "confirmed": "yes", "key": key}
    files = {"file": ("", b"", "application/octet-stream")}
    return await site.post(path, data=fields, files=files, headers=HTML)


async def test_applicants_are_imported_after_a_preview_and_exported(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    path = f"/hiring/{job}/import"
    assert path in (await site.get(f"/hiring/{job}", headers=HTML)).text
    wrong = await upload(site, path, "name,email\nAda,nowhere\n,ben@example.org\n")
    assert wrong.status_code == 400
    assert "Row 2:" in wrong.text
    assert "Row 3:" in wrong.text
    for content in ("", "name,email\n", "\0\0"):
        assert (await upload(site, path, content)).status_code == 400
    preview = await upload(site, path, PEOPLE)
    assert "To be imported: 2." in preview.text
    assert "Repeated in the file: 1." in preview.text
    assert (await the_opening(database, job)).occupied == 0
    answers = await asyncio.gather(*(confirm(site, path, PEOPLE, "key") for _ in range(2)))
    assert [answer.status_code for answer in answers] == [303, 303]
    after = await the_opening(database, job)
    assert (after.occupied, after.waiting) == (1, 1)
    link = attribute(await look(site, f"/hiring/{job}"), "a[download]", "href")
    assert "ada@example.org" in (await site.get(link)).text


async def test_openings_are_exported_and_imported_once(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await make_job(site, title="=Baker")
    content = (await site.get("/hiring/openings.csv")).text
    assert "'=Baker" in content
    wrong = await upload(site, "/hiring/import", "title,capacity\nCook,none\n")
    assert (wrong.status_code, "Row 2:" in wrong.text) == (400, True)
    preview = await upload(site, "/hiring/import", content)
    assert "1 opening will be created" in preview.text
    again = [confirm(site, "/hiring/import", content, "a key") for _ in range(2)]
    assert {answer.status_code for answer in await asyncio.gather(*again)} == {303}
    titles = await fetch(database, "SELECT title FROM hiring.opening ORDER BY id")
    assert titles == ["=Baker", "=Baker"]


async def test_an_opening_that_is_created_during_the_export_does_not_end_it(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await make_job(site, title="Baker")
    async with database.transaction() as tx:
        # The export has read the openings, and waits before it counts their applications.
        await tx.execute("LOCK TABLE hiring.application IN ACCESS EXCLUSIVE MODE")
        export = asyncio.create_task(site.get("/hiring/openings.csv", headers=HTML))
        await until_statements_wait(database)
        await make_opening(tx)
    answer = await export
    assert answer.status_code == 200
    assert len(answer.text.splitlines()) == 2


async def test_addresses_are_blocked_and_unblocked(site: httpx2.AsyncClient) -> None:
    path = "/hiring/company/blocklist"
    assert "Nothing is blocked." in text(await look(site, path))
    for wrong in ({"address": "spam", "reason": "Spam"}, {"address": "@a.example", "reason": " "}):
        assert (await post(site, path, wrong)).status_code == 400
    await post(site, path, {"address": "@A.example", "reason": "Spam <b>"})
    assert texts(await look(site, path), "tbody th") == ["@a.example"]
    await post(site, f"{path}/remove", {"address": "@a.example"})
    assert "Nothing is blocked." in text(await look(site, path))


async def test_a_webhook_shows_its_secret_once_and_delivers_again(
    site: httpx2.AsyncClient, database: Database
) -> None:
    path = "/hiring/company/webhooks"
    for url in ("http://hooks.example.org", "https://127.0.0.1/"):
        assert (await post(site, path, {"url": url})).status_code == 400
    job = await make_job(site)
    form = await look(site, path)
    assert texts(form, "[name=opening] option") == ["All openings", f"Baker ({job})"]
    assert "was offered a place PROMOTED" in texts(form, ".ticks label")
    fields = {
        "url": "https://hooks.example.org/a",
        "event": ["APPLIED", "PROMOTED"],
        "opening": str(job),
        "key": attribute(form, "[name=key]", "value"),
    }
    added = await post(site, path, fields)
    assert "whsec_" in added.text
    again = await post(site, path, fields)
    assert added.headers["cache-control"] == "no-store"
    [id] = await fetch(database, "SELECT id FROM hiring.webhook")
    assert (again.status_code, again.headers["location"]) == (303, f"{path}/{id}?added=true")
    assert "Its secret was shown once" in text(await look(site, again.headers["location"]))
    listed = text(await look(site, path), ".letters")
    assert "applied, was offered a place · Baker" in listed
    await fill(site, job, "Ada")
    shown = await look(site, f"{path}/{id}")
    assert "whsec_" not in shown.html
    assert texts(shown, "tbody th") == ["Baker: applied APPLIED"]
    replay = attribute(shown, "tbody form", "action")
    key = {"key": attribute(shown, "tbody form [name=key]", "value")}
    for _ in range(2):
        assert (await post(site, replay, key)).status_code == 303
    assert len((await look(site, f"{path}/{id}")).css("tbody tr")) == 2
    await post(site, f"{path}/{id}/state", {"enabled": "no"})
    refused = await post(site, replay)
    assert (refused.status_code, "Enable it first" in refused.text) == (409, True)
    assert "Delete this webhook?" in text(await look(site, f"{path}/{id}/delete"))
    assert (await post(site, f"{path}/{id}/delete")).status_code == 303
    assert "No webhooks yet." in text(await look(site, path))


async def test_logs_are_verified_saved_and_compared(
    site: httpx2.AsyncClient, database: Database
) -> None:
    path = "/hiring/company/verification"
    job = await make_job(site)
    await fill(site, job, "Ada Ben")
    async with database.transaction() as tx:
        await make_times(tx, await openings.get(tx, job), 1)
    await look(site, path)
    saved = await upload(site, path, "", action="save")
    assert saved.headers["content-disposition"] == 'attachment; filename="heads.jsonl"'
    compared = await upload(site, path, saved.text, action="verify")
    assert (
        "The history of 2 openings is unchanged. It matches the checksums in your file."
        in " ".join(compared.text.split())
    )
    assert compared.text.count("Interview ") == 1
    wrong = await upload(site, path, f"{saved.text}{{}}\n", action="verify")
    assert wrong.status_code == 400
    assert (
        f"Line {saved.text.count(chr(10)) + 1} of the file is not a saved checksum." in wrong.text
    )
    assert "Choose the file that you downloaded with" in wrong.text
    assert "verify --save`" not in wrong.text
    large = json.dumps({"jobId": job, "seq": 10**30, "hash": "00"})
    for heads in ("{}", large):
        assert (await upload(site, path, heads, action="verify")).status_code == 400
    # Also if the first half megabyte of the file ends with a line.
    line = saved.text.splitlines()[0].ljust(1_999) + "\n"
    too_large = await upload(site, path, line * 251, action="verify")
    assert (too_large.status_code, "larger than 500 KB" in too_large.text) == (400, True)
    with count_calls(saved_heads.parse_heads) as count:
        assert (await upload(site, path, saved.text, action="verify")).status_code == 200
    # An upload is read in a child process.
    assert count() == 0
    async with database.transaction() as tx:
        await tx.execute("SET LOCAL session_replication_role = replica")
        await tx.execute("UPDATE hiring.event SET actor = 'person:9' WHERE seq = 2")
    changed = await upload(site, path, saved.text, action="save")
    assert "Some events were changed, removed or inserted." in changed.text
    assert f"/hiring/{job}/events/2" in changed.text


async def test_a_person_is_erased_after_the_consequences_were_shown(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    ada, _ = await fill(site, job, "Ada Ben")
    person = f"/hiring/{job}/people/{ada}"
    assert f"{person}/erase" in (await site.get(person, headers=HTML)).text
    shown = text(await look(site, f"{person}/erase"))
    assert "Its place is offered to the next person." in shown
    assert (await post(site, f"{person}/erase")).status_code == 400
    other = await make_job(site)
    assert (
        await post(site, f"/hiring/{other}/people/{ada}/erase", {"confirmed": "yes"})
    ).status_code == 404
    assert (await post(site, f"{person}/erase", {"confirmed": "yes"})).status_code == 303
    assert "Erased applicant" in text(await look(site, person))
    assert "erased already" in text(await look(site, f"{person}/erase"))
    names = await fetch(database, "SELECT name FROM hiring.applicant ORDER BY id")
    assert names == ["Erased applicant", "Ben"]


async def test_places_are_offered_to_many_and_nothing_is_removed_by_default(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    _, ben, cy = await fill(site, job, "Ada Ben Cy")
    bar = part(await look(site, f"/hiring/{job}"), "form.selection")
    assert [button.attributes["value"] for button in bar.css("button")] == [
        "message", "promote", "remove",
    ]  # fmt: skip
    path, picked = f"/hiring/{job}/bulk", {"selected": [ben, cy], "action": "promote"}
    first = await post(site, path, picked)
    assert (first.status_code, "Offer places out of turn" in first.text) == (200, True)
    preview = await post(site, path, picked | {"reason": "Second team"})
    assert preview.text.count("no place is free") == 2
    reason = picked | {"reason": "Second team", "add_slots": "yes"}
    preview = await post(site, path, reason)
    assert preview.text.count("Will be offered a place") == 2
    assert (await the_opening(database, job)).waiting == 2
    done = await post(site, path, reason | {"confirmed": "promote"})
    assert done.status_code == 303
    after = await the_opening(database, job)
    assert (after.waiting, after.capacity) == (0, 3)
    assert (await post(site, path, {"selected": [ben]})).status_code == 400


async def test_a_failed_letter_is_sent_again_once(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    await fill(site, job, "Ada")
    async with database.transaction() as tx:
        await tx.execute(
            "UPDATE hiring.notice SET state = 'failed', ended_at = now(), detail = 'refused'"
        )
    retry = attribute(await look(site, "/hiring/messages?state=failed"), "tbody form", "action")
    answers = await asyncio.gather(*(post(site, retry) for _ in range(2)))
    assert sorted(answer.status_code for answer in answers) == [303, 409]
    assert await fetch(database, "SELECT state, ended_at FROM hiring.notice") == [("waiting", None)]
