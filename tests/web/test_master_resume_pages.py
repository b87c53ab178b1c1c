"""The master resume: edit it without scripts, import it beside what the profile has, download it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database
from jobmill.matching import judging_feed, llm_review, profile_document, profiles
from jobmill.matching.master_resume import MasterResume
from jobmill.matching.profile import Profile
from jobmill.people.persons import LOCAL
from tests.catalog import helpers as catalog
from tests.web.test_profile_pages import HOSTILE, keep, newest, read_text

PROFILE = """\
person: {name: Dana Pell, home_city: "Porto, Portugal", timezone: Europe/Lisbon}
titles: [Cook]
summary: Call Dana Pell at +351 555 010 042 or dana@example.net.
resume:
  contact: {email: dana@example.net}
  experience:
  - {title: Cook, employer: Hotel Linden, start: 2019-04, end: present, highlights: [Ran the grill]}
  - {title: Waiter, employer: Cafe Elm, start: 2015, end: 2018}
"""
FILE = """\
Dana Pell
dana@example.net | +351 555 0100

Experience
Head Chef, Hotel Oak, 2024 - present
Cook, Hotel Linden, 04/2019 - 12/2023
- Ran the grill and the fish

Education
Diploma in Cooking, Porto School of Hospitality, 2012 - 2014
"""


def fields_of(page: httpx2.Response | str) -> dict[str, Any]:
    """What a browser sends for the main form, without buttons."""
    html = Html(page if isinstance(page, str) else page.text)
    values: dict[str, list[str]] = {}
    for field in html.css(
        "form.profile-form input, form.profile-form textarea, form.profile-form select"
    ):
        name, kind = field.attributes.get("name"), field.attributes.get("type")
        if not name or (kind in ("checkbox", "radio") and "checked" not in field.attributes):
            continue
        if field.tag == "select":
            chosen = field.css_first("option[selected]") or field.css_first("option")
            value = chosen.attributes.get("value") or ""
        elif field.tag == "textarea":
            value = field.text().removeprefix("\n")
        else:
            value = field.attributes.get("value") or ""
        values.setdefault(name, []).append(value)
    return dict(values)


async def titles_of(database: Database) -> list[str]:
    return [job.title for job in (await newest(database)).profile().resume.experience]


async def test_entries_are_added_moved_removed_and_saved_without_scripts(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database, PROFILE)
    form = fields_of(await site.get("/profile/resume"))
    form = fields_of(await site.post("/profile/resume", data=form | {"entry": "experience.add"}))
    form |= {
        "resume.experience.0.title": "Head Chef",
        "resume.experience.0.start.year": "2024",
        "resume.experience.0.start.month": "03",
        "resume.experience.0.end.now": "yes",
        "resume.experience.0.highlights": "Wrote a menu\r\nHired two cooks",
    }
    form = fields_of(await site.post("/profile/resume", data=form | {"entry": "experience.2.up"}))
    form = fields_of(
        await site.post("/profile/resume", data=form | {"entry": "experience.2.remove"})
    )
    # Nothing is saved before the person says so.
    assert await titles_of(database) == ["Cook", "Waiter"]
    answer = await site.post("/profile/resume", data=form | {"action": "save"})
    assert answer.headers["location"] == "/profile/resume?profile=main&did=saved"
    chef, waiter = (await newest(database)).profile().resume.experience
    assert (chef.title, chef.start, chef.end) == ("Head Chef", "2024-03", "present")
    assert chef.highlights == ("Wrote a menu", "Hired two cooks")
    assert (waiter.title, waiter.start) == ("Waiter", "2015")
    # Undo: the resume of the version before.
    page = await site.get(answer.headers["location"])
    (undo,) = [link for link in Html(page.text).css(".message a") if link.text() == "Undo"]
    form = fields_of(await site.get(undo.attributes["href"] or ""))
    await site.post("/profile/resume", data=form | {"action": "save"})
    assert await titles_of(database) == ["Cook", "Waiter"]


async def test_an_unchanged_form_changes_nothing(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database, PROFILE)
    form = fields_of(await site.get("/profile/resume"))
    answer = await site.post("/profile/resume", data=form | {"action": "save"})
    assert answer.headers["location"].endswith("did=same")
    assert (await newest(database)).version == 1


@pytest.mark.parametrize(
    ("changed", "field", "words"),
    [
        ({"resume.experience.1.title": " "}, "experience.1.title", "is required"),
        ({"resume.experience.0.start.year": "19"}, "experience.0.start", "needs a year such as 2021"),
        ({"resume.experience.1.end.year": "2014"}, "experience.1.end", "should not end"),
        ({"resume.links.0.url": "dana.example", "resume.links.0.label": "Home"}, "links.0.url", "https://"),
        ({"resume.email": "dana at home"}, "email", "such as dana@example.net"),
        ({"resume.education.7.degree": "BSc"}, "education.0.institution", "is required"),
    ],
)  # fmt: skip
async def test_each_invalid_field_is_marked_and_nothing_is_lost(
    site: httpx2.AsyncClient, database: Database, changed: dict[str, str], field: str, words: str
) -> None:
    await keep(database, PROFILE)
    form = fields_of(await site.get("/profile/resume")) | changed
    answer = await site.post("/profile/resume", data=form | {"action": "save"})
    assert answer.status_code == 422
    page = Html(answer.text)
    marked = page.css_first(f'[name^="resume.{field}"]')
    assert marked.attributes["aria-invalid"] == "true"
    assert words in page.css_first(f'[id="{marked.attributes["aria-describedby"]}"]').text()
    sent = {value for values in fields_of(answer).values() for value in values}
    assert set(changed.values()) <= sent
    assert (await newest(database)).version == 1


async def test_a_change_in_the_meantime_is_not_overwritten(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database, PROFILE)
    form = fields_of(await site.get("/profile/resume"))
    await keep(database, PROFILE.replace("Cook]", "Baker]"))
    sent = form | {"resume.headline": "Chef", "action": "save"}
    answer = await site.post("/profile/resume", data=sent)
    assert answer.status_code == 409
    assert "was changed in the meantime" in read_text(answer)
    # Saved again, the change of the other window is kept.
    await site.post("/profile/resume", data=fields_of(answer) | {"action": "save"})
    profile = (await newest(database)).profile()
    assert (profile.titles, profile.resume.headline) == (("Baker",), "Chef")


async def test_of_two_windows_that_save_at_once_one_is_told(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database, PROFILE)
    form = fields_of(await site.get("/profile/resume"))
    answers = await asyncio.gather(
        *(
            site.post(
                "/profile/resume", data=form | {"resume.headline": headline, "action": "save"}
            )
            for headline in ("Chef", "Baker")
        )
    )
    assert sorted(answer.status_code for answer in answers) == [303, 409]
    assert (await newest(database)).version == 2


async def test_a_resume_is_imported_beside_what_the_profile_has(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database, PROFILE)
    page = await site.post("/profile/upload", files={"text": (None, FILE)})
    text = read_text(page)
    for words in (
        "Keep what is in your profile",
        "Use what is in the pasted text",
        "Head Chef",
        "Diploma",
        "Keep both entries",
    ):
        assert words in text
    form = fields_of(page)
    assert form["choice.experience.1"] == ["file"]
    form |= {"choice.experience.1": "profile", "choice.education.0": "none", "action": "save"}
    answer = await site.post("/profile/edit", data=form)
    assert answer.status_code == 303, read_text(answer)
    resume = (await newest(database)).profile().resume
    assert [(job.title, job.end) for job in resume.experience] == [
        ("Head Chef", "present"),
        ("Cook", "present"),
        ("Waiter", "2018"),
    ]
    assert resume.contact.phone == "+351 555 0100"
    assert not resume.education


@pytest.mark.parametrize("path", ["/profile/edit", "/setup/profile"])
async def test_read_entries_are_edited_before_anything_is_saved(
    site: httpx2.AsyncClient, database: Database, path: str
) -> None:
    upload = "/profile/upload" if path == "/profile/edit" else "/setup/resume"
    form = fields_of(await site.post(upload, files={"text": (None, FILE)}))
    form |= {"person.home_city": "Porto, Portugal", "person.timezone": "Europe/Lisbon"}
    editor = await site.post(path, data=form | {"action": "entries"})
    assert "Master resume" in read_text(editor)
    sent = fields_of(editor) | {"resume.experience.0.start.year": "x", "action": "done"}
    refused = await site.post(path, data=sent)
    assert refused.status_code == 422
    form = fields_of(refused) | {"resume.experience.0.start.year": "2023"}
    form = fields_of(await site.post(path, data=form | {"entry": "experience.1.remove"}))
    form = fields_of(await site.post(path, data=form | {"action": "done"}))
    assert form["person.home_city"] == ["Porto, Portugal"]
    async with database.transaction() as tx:
        assert not await profiles.find_all(tx)
    answer = await site.post(path, data=form | {"action": "save"})
    assert answer.status_code == 303, read_text(answer)
    (job,) = (await newest(database)).profile().resume.experience
    assert (job.title, job.start) == ("Head Chef", "2023")


async def test_a_change_of_the_resume_alone_scores_nothing_again(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database, PROFILE)
    async with database.transaction() as tx:
        await catalog.run(tx, await catalog.make_source(tx), 1, [catalog.posting(1, title="Cook")])
    before = await newest(database)
    form = fields_of(await site.get("/profile/resume")) | {"resume.headline": "Chef"}
    await site.post("/profile/resume", data=form | {"action": "save"})
    edit = fields_of(await site.get("/profile/edit"))
    entries = json.dumps({"headline": "Head chef"})
    sent = edit | {"entries": entries, "action": "save", "rescore": "yes"}
    assert (await site.post("/profile/edit", data=sent)).status_code == 303
    assert (await newest(database)).profile().resume.headline == "Head chef"
    async with database.transaction() as tx:
        assert not await judging_feed.count(tx, before.profile_id)
    # Other changes are scored.
    sent = edit | {"after": "3", "titles": "Baker", "action": "save", "rescore": "yes"}
    assert (await site.post("/profile/edit", data=sent)).status_code == 303
    async with database.transaction() as tx:
        assert await judging_feed.count(tx, before.profile_id)


async def test_the_profile_page_shows_exactly_what_a_model_is_told(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database, PROFILE)
    profile = (await newest(database)).profile()
    page = Html((await site.get("/profile")).text)
    sent = page.css_first("#sent pre").text()
    assert sent == llm_review.preview_candidate(profile)
    assert "Call [candidate] at [contact] or [contact]." in sent
    assert not any(words in sent for words in ("Linden", "Elm", "Dana", "dana@", "Waiter"))


async def test_the_resume_is_downloaded_as_json_resume_and_yaml(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database, PROFILE)
    answer = await site.get("/profile/export?format=json-resume")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''main.json"
    assert [job["position"] for job in answer.json()["work"]] == ["Cook", "Waiter"]
    answer = await site.get("/profile/export?format=yaml")
    assert profile_document.read_profile(answer.text, "x") == (await newest(database)).profile()
    assert (await site.get("/profile/export?format=exe")).status_code == 422
    assert (await site.get("/profile/export?profile=nobody")).status_code == 404


async def test_hostile_entries_are_shown_as_text(
    site: httpx2.AsyncClient, database: Database
) -> None:
    resume = MasterResume.model_validate(
        {"headline": HOSTILE, "experience": [{"title": HOSTILE, "highlights": [HOSTILE]}]}
    )
    async with database.transaction() as tx:
        await profiles.save(tx, "main", Profile(resume=resume), owner=LOCAL)
    for path in ("/profile", "/profile/resume", "/profile/edit"):
        page = (await site.get(path)).text
        assert "<script>alert" not in page
        assert "<img src=x" not in page
    form = fields_of(await site.get("/profile/resume"))
    assert form["resume.experience.0.title"] == [HOSTILE]
