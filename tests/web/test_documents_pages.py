"""Documents: written from a match, edited, compared, downloaded and frozen."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Sequence

import httpx2
import pytest

from jobmill import app, queue
from jobmill.catalog.posting import Posting
from jobmill.db import Database
from jobmill.documents import store
from jobmill.documents.document import iter_lines
from jobmill.matching import matches
from jobmill.matching.matches import MatchId
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.catalog import helpers
from tests.documents.samples import ASSISTED, POSTING, TRAINED, make_profile
from tests.matching import judged
from tests.queue.helpers import drain, fetch

SUMMARY = "Nurse who keeps calm."


async def make(database: Database) -> MatchId:
    async with database.transaction() as tx:
        posting: Posting = helpers.posting(1, POSTING.title, description=POSTING.description)
        place = await judged.make(tx, postings=[posting], profile=make_profile())
        id = await matches.save_verdict(tx, place.word(90, place.listing))
        assert id is not None
    return id


def read_form(page: str, *, without: Sequence[str] = ()) -> dict[str, list[str]]:
    """The fields of the editor as a browser would send them."""
    page = page[page.index('id="editor"') :]
    page = page[: page.index("</form>")]
    form: dict[str, list[str]] = {
        "version": re.findall(r'name="version" value="(\d+)"', page),
        "on": re.findall(r'name="on" value="([^"]+)"[^>]* checked', page),
    }
    form["on"] = [key for key in form["on"] if key not in without]
    for key, text in re.findall(r'<input name="text\.([^"]+)"[^>]* value="([^"]*)"', page):
        form[f"text.{key}"] = [html.unescape(text)]
    for key, text in re.findall(r'<textarea name="text\.([^"]+)"[^>]*>\n([^<]*)<', page):
        form[f"text.{key}"] = [html.unescape(text)]
    for name, options in re.findall(r'<select name="(template|paper)">(.*?)</select>', page):
        form[name] = re.findall(r'value="([^"]+)" selected', options)
    return form


async def open_resume(site: httpx2.AsyncClient, match_id: int) -> tuple[str, str]:
    answer = await site.post(f"/documents/write/{match_id}/resume")
    assert answer.status_code == 303
    path = answer.headers["location"]
    return path, (await site.get(path)).text


async def test_a_resume_is_written_edited_previewed_downloaded_and_frozen(
    site: httpx2.AsyncClient, database: Database
) -> None:
    match_id = await make(database)
    for place in (f"/matches/{match_id}", f"/applications/{match_id}"):
        assert "Write resume" in (await site.get(place)).text
    path, page = await open_resume(site, match_id)
    assert (await open_resume(site, match_id))[0] == path, "the same document again"
    assert "Open resume" in (await site.get(f"/matches/{match_id}")).text
    assert "Work experience 1, line 2 · the job mentions: Ventilator management" in page
    form = read_form(page, without=["resume.experience.0.highlights.2"])
    form |= {
        "text.summary": ["Calm nurse & <mentor>"],
        "template": ["modern"],
        "paper": ["us-letter"],
    }
    preview = (await site.post(f"{path}/preview", data=form)).text
    assert "Calm nurse &amp; &lt;mentor&gt;" in preview
    assert ASSISTED not in preview
    assert SUMMARY in (await site.get(path)).text, "a preview saves nothing"
    saved = await site.post(path, data=form)
    assert saved.status_code == 303
    page = (await site.get(saved.headers["location"])).text
    assert "Saved as version 2." in page
    assert "Your own edit" in page
    assert f"<del>{ASSISTED}</del>" in page
    assert re.search(r"\d+ words</span> <span>1 page<", page)
    for format, start in (("pdf", b"%PDF"), ("docx", b"PK"), ("txt", b"Maria Santos\n")):
        file = await site.get(f"{path}/file/2/{format}")
        assert file.content.startswith(start)
        assert f"Resume%20-%20Acme.{format}" in file.headers["content-disposition"] or "Resume" in file.headers["content-disposition"]  # fmt: skip
        assert (await site.get(f"{path}/file/2/{format}")).content == file.content
    image = await site.get(f"{path}/image/2/1")
    assert (image.headers["content-type"], image.content[:4]) == ("image/png", b"\x89PNG")
    assert (await site.get(f"{path}/image/2/9")).status_code == 404
    assert (await site.post(f"{path}/sent", data={"version": "2", "format": "pdf"})).is_redirect
    frozen = await site.get(f"{path}/sent/2/pdf")
    page = (await site.get(path)).text
    assert hashlib.sha256(frozen.content).hexdigest() in page
    assert (await site.get("/documents")).text.count(">Sent<") == 1
    timeline = (await site.get(f"/applications/{match_id}")).text
    assert all(what in timeline for what in ("resume written", "resume edited", "resume sent"))


async def test_lines_move_and_the_order_is_printed(
    site: httpx2.AsyncClient, database: Database
) -> None:
    path, page = await open_resume(site, await make(database))
    form = read_form(page) | {"move": ["down resume.experience.0.highlights.1"]}
    moved = await site.post(path, data=form)
    assert moved.headers["location"].endswith("#line-resume.experience.0.highlights.1")
    text = (await site.get(f"{path}/file/2/txt")).text
    assert text.index(TRAINED) > text.index("Organised") or text.index(TRAINED) > text.index(
        ASSISTED
    )


async def test_of_two_tabs_the_second_sees_its_changes_on_top_and_can_save_them(
    site: httpx2.AsyncClient, database: Database
) -> None:
    path, page = await open_resume(site, await make(database))
    first = read_form(page, without=["resume.experience.0.highlights.2"])
    second = read_form(page) | {"text.summary": ["Second tab"]}
    assert (await site.post(path, data=first)).status_code == 303
    refused = await site.post(path, data=second)
    assert refused.status_code == 409
    assert "version 2 is newer than yours (1)" in refused.text
    form = read_form(refused.text)
    assert (form["text.summary"], form["version"]) == (["Second tab"], ["2"])
    assert (await site.post(path, data=form)).status_code == 303
    versions = (await site.get(path)).text
    assert "Version 3" in versions
    assert (await site.post(f"{path}/restore/1", data={"version": "3"})).status_code == 303
    assert SUMMARY in (await site.get(f"{path}/file/4/txt")).text
    assert (await site.post(f"{path}/rebuild", data={"version": "3"})).status_code == 409


async def test_the_best_matches_get_documents_with_progress(
    site: httpx2.AsyncClient, database: Database
) -> None:
    match_id = await make(database)
    stages = app.build_stages(Tools(database), Settings())
    async with database.transaction() as tx:
        await queue.declare_stages(tx, stages)
    queued = await site.post("/documents/best", data={"profile": "main"})
    page = (await site.get(queued.headers["location"])).text
    assert "1 match queued" in page
    assert "0 of 1 have a resume and a cover letter" in page
    assert "Being written" in page
    await drain(database, stages)
    page = (await site.get("/documents")).text
    assert "1 of 1 have a resume and a cover letter" in page
    assert "Cover letter: " in page
    async with database.transaction() as tx:
        ids = await store.find_ids(tx, match_id)
        assert ids["letter"] is not None
        letter = (await store.get(tx, ids["letter"])).document()
    assert any(line.source for line in iter_lines(letter))
    page = (await site.get(f"/documents/{ids['letter']}")).text
    assert "Nothing about you leaves this machine" in page
    await site.post(f"/documents/{ids['letter']}/reword")
    await drain(database, stages)
    assert set(await fetch(database, "SELECT version FROM matching.document")) == {1}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/documents/999", 404),
        ("POST", "/documents/write/999/resume", 404),
        ("POST", "/documents/write/1/novel", 404),
        ("GET", "/documents/999/file/1/pdf", 404),
    ],
)
async def test_unknown_documents(
    empty_site: httpx2.AsyncClient, method: str, path: str, status: int
) -> None:
    assert (await empty_site.request(method, path)).status_code == status


async def test_forms_that_no_page_sends_are_refused(
    site: httpx2.AsyncClient, database: Database
) -> None:
    path, _ = await open_resume(site, await make(database))
    assert (await site.post(path, data={"version": "x"})).status_code == 400
    sent = {"version": "1", "format": "exe"}
    assert (await site.post(f"{path}/sent", data=sent)).status_code == 400
    assert (await site.post(path, data={"version": "1", "template": "x"})).status_code == 303
    assert await fetch(database, "SELECT version FROM matching.document") == [1]
