"""Tests of notes, ratings, tags and mentions on pages and in the API."""

from __future__ import annotations

import httpx2
import pytest

from jobmill.db import Database
from jobmill.people import keys
from tests.people.helpers import bearer, make_person
from tests.web.api.helpers import make_job
from tests.web.helpers import site_with
from tests.web.hiring_helpers import attribute, fill, look, post, text, texts


async def test_a_recruiter_rates_tags_and_notes_without_scripts(site: httpx2.AsyncClient) -> None:
    job = await make_job(site, 2)
    ada, ben = await fill(site, job, "Ada Ben")
    here = f"/hiring/{job}/people/{ada}"
    page = await look(site, here)
    assert "Not rated yet." in text(page, "#review")
    assert "No notes yet." in text(page, "#note-list")
    for path, fields in (
        ("rating", {"score": "4"}),
        ("rating", {"score": "2", "criterion": "Baking"}),
        ("tags", {"tag": "Night shift"}),
        ("notes", {"body": "Calm <b>and</b> kind"}),
    ):
        answer = await post(site, f"{here}/{path}", fields)
        assert (answer.status_code, answer.headers["location"].partition("#")[0]) == (303, here)
    page = await look(site, here)
    assert "Rated 3.0 of 5 by 1 person." in text(page, "#review-state")
    assert texts(page, ".notes .note") == ["Calm <b>and</b> kind"]
    assert texts(page, ".tags .chip a") == ["night shift"]
    [note] = (await site.get(f"/api/applications/{ada}/review")).json()["notes"]

    edit = await look(site, f"{here}?edit={note['id']}")
    assert attribute(edit, "#note-form", "action") == f"{here}/notes/{note['id']}"
    refused = await post(site, f"{here}/notes/{note['id']}", {"body": " "})
    assert (refused.status_code, "at most 10,000 characters" in refused.text) == (400, True)
    await post(site, f"{here}/notes/{note['id']}", {"body": "Calm"})
    assert texts(await look(site, here), ".notes .note") == ["Calm"]
    # A note of another application is not found.
    other = f"/hiring/{job}/people/{ben}/notes/{note['id']}"
    assert (await post(site, f"{other}/delete")).status_code == 404
    assert (await post(site, f"{here}/rating", {"score": "9"})).status_code == 400

    listed = await look(site, "/hiring/applicants?tag=night%20Shift")
    assert texts(listed, "tbody th a:first-child") == ["Ada", "night shift"]
    assert "3.0" in text(listed, "tbody")
    await post(site, f"{here}/tags/remove", {"tag": "night shift"})
    await post(site, f"{here}/notes/{note['id']}/delete")
    page = await look(site, here)
    assert (texts(page, ".tags .chip"), texts(page, ".notes li")) == ([], [])


async def test_a_mentioned_member_reads_the_note_from_today_and_hiring(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    [ada] = await fill(site, job, "Ben")
    person = await make_person(database, "cy@example.org", "admin")
    async with database.transaction() as tx:
        key = await keys.add(tx, "of Cy", "admin", owner_id=person.id)
    note = await site.post(f"/api/applications/{ada}/notes", json={"text": "Please call. @cy"})
    assert (note.status_code, note.json()["mentioned"]) == (201, [person.id])
    id = note.json()["id"]
    async with site_with(database) as client:
        client.headers["Authorization"] = f"Bearer {key.key}"
        [mention] = (await client.get("/api/mentions")).json()
        assert (mention["noteId"], mention["jobId"], mention["applicantName"]) == (id, job, "Ben")
        for path in ("/today", "/hiring"):
            assert "mentioned you in a note about Ben" in text(await look(client, path), ".needs")
        opened = await post(client, f"/hiring/mentions/{id}/read")
        assert opened.headers["location"] == f"/hiring/{job}/people/{ada}#note-{id}"
        for path in ("/today", "/hiring"):
            assert "mentioned you" not in text(await look(client, path))
        assert (await client.get("/api/mentions")).json() == []
        # Only the author changes a note.
        edited = await client.patch(f"/api/notes/{id}", json={"text": "Do not call."})
        assert edited.status_code == 403


@pytest.mark.parametrize(("role", "expected"), [("viewer", 403), ("recruiter", 201)])
async def test_viewers_read_reviews_and_recruiters_write_them(
    site: httpx2.AsyncClient, database: Database, role: str, expected: int
) -> None:
    [ada] = await fill(site, await make_job(site), "Ada")
    path = f"/api/applications/{ada}"
    async with site_with(database) as client:
        client.headers.update(await bearer(database, role))  # pyright: ignore[reportArgumentType]
        assert (await client.get(f"{path}/review")).status_code == 200
        note = await client.post(f"{path}/notes", json={"text": "Good"})
        assert note.status_code == expected
        if expected != 201:
            return
        rated = await client.put(f"{path}/rating", json={"score": 5})
        assert (rated.status_code, rated.json()["average"]) == (200, 5.0)
        assert (await client.put(f"{path}/rating", json={"score": 6})).status_code == 400
        tagged = await client.post(f"{path}/tags", json={"tag": "Senior"})
        assert tagged.json()["tags"] == ["senior"]
        assert (await client.delete(f"{path}/tags/senior")).status_code == 204
        assert (await client.delete(f"/api/notes/{note.json()['id']}")).status_code == 204
        review = (await client.get(f"{path}/review")).json()
        assert (review["tags"], review["notes"]) == ([], [])
