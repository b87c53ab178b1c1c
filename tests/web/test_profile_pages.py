"""/profile: view, edit, preview and save; resumes in all formats."""

from __future__ import annotations

import html
import re
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database
from jobmill.matching import judging_feed, matches, profile_document, profiles
from jobmill.matching.profiles import ProfileVersion
from tests.catalog import helpers as catalog
from tests.matching import helpers, judged
from tests.people.helpers import bearer
from tests.web.helpers import site_with

HOSTILE = """<script>alert(1)</script> "><img src=x onerror=alert(1)> {{7*7}}"""
YAML = """\
titles: [Cook]
skills:
- {name: Python, rank: primary, years: 8}
rules:
  match: {score: 70}
"""


async def keep(database: Database, text: str = YAML, name: str = "main") -> None:
    async with database.transaction() as tx:
        await profiles.save(
            tx, name, profile_document.read_profile(text, "x"), by="dana", note="first"
        )


async def newest(database: Database, name: str = "main") -> ProfileVersion:
    async with database.transaction() as tx:
        return await profiles.get(tx, name)


def form(**changed: Any) -> dict[str, Any]:
    """The fields of an unchanged form."""
    usual = {
        "name": "main",
        "after": "1",
        "how": "fields",
        "base": YAML,
        "titles": "Cook",
        "arrangements": ["remote", "hybrid"],
        "skill": ["Python", "", ""],
        "rank": ["primary", "familiar", "familiar"],
        "years": ["8", "", ""],
        "salary_floor.currency": "USD",
        "salary_floor.period": "year",
        "action": "save",
    }
    return usual | {name.replace("__", "."): value for name, value in changed.items()}


def read_text(answer: httpx2.Response) -> str:
    return html.unescape(re.sub(r"\s+", " ", answer.text))


async def test_a_profile_is_shown_with_its_versions(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database)
    await keep(database, YAML.replace("Cook", "Baker"))
    page = read_text(await site.get("/profile"))
    for words in ("Baker", "Python", "8 y", "a score of at least 70 of 100", "Version 2", "custom"):
        assert words in page
    story = read_text(await site.get("/profile/version?version=2"))
    assert "- - Cook" in story
    assert "+ - Baker" in story


async def test_the_form_changes_only_its_own_fields(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database)
    sent = form(titles="Cook\r\nChef\r\n", skill=["Python", "Go", ""], years=["8", "2.5", ""])
    answer = await site.post("/profile/edit", data=sent | {"salary_floor.amount": "150,000"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/profile?profile=main&did=saved"
    saved = (await newest(database)).profile()
    assert saved.titles == ("Cook", "Chef")
    assert [(skill.name, skill.rank, skill.years) for skill in saved.skills] == [
        ("Python", "primary", 8),
        ("Go", "familiar", 2.5),
    ]
    assert saved.salary_floor is not None
    assert saved.salary_floor.amount == 150_000
    assert saved.rules.match.score == 70


async def test_the_page_explains_that_the_salary_is_not_a_filter(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database, YAML + "salary_floor: {amount: 90000}\n")
    for path in ("/profile/edit", "/setup/profile"):
        page = Html((await site.get(path)).text)
        field = page.css_first('[name="salary_floor.amount"]')
        about = page.css_first(f"#{field.attributes['aria-describedby']}").text()
        assert "not rejected, but show a dealbreaker" in about
    text = read_text(await site.get("/profile"))
    assert "USD 90,000 per year Lower salaries are shown as a dealbreaker, not rejected." in re.sub(
        "<[^>]*>", "", text
    )
    assert "Least salary" not in text


async def test_an_unchanged_form_creates_no_version(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database)
    answer = await site.post("/profile/edit", data=form())
    assert answer.headers["location"].endswith("did=same")
    assert (await newest(database)).version == 1


async def test_errors_are_shown_at_their_fields_and_values_are_kept(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database)
    sent = form(experience_years="many", years=["x", "", ""], stop_lists__domains="no domain")
    answer = await site.post("/profile/edit", data=sent)
    assert answer.status_code == 422
    for path in ("experience_years", "skills.1", "stop_lists.domains"):
        assert f'id="error-{path}"' in answer.text
        assert f'aria-describedby="error-{path}"' in answer.text
    assert 'value="many"' in answer.text
    assert (await newest(database)).version == 1


async def test_yaml_errors_are_shown_with_line_numbers(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database)
    shown = await site.post("/profile/edit", data=form(action="yaml"))
    assert profile_document.to_yaml(profile_document.read_profile(YAML, "x")) in html.unescape(
        shown.text
    )
    sent = {"name": "main", "after": "1", "how": "yaml", "action": "save"}
    wrong = await site.post("/profile/edit", data=sent | {"yaml": "titles: [Cook]\nskils: []\n"})
    assert wrong.status_code == 422
    assert "Line 2:" in wrong.text
    assert "did you mean skills" in read_text(wrong)
    assert "skils: []" in wrong.text
    await site.post("/profile/edit", data=sent | {"yaml": "titles: [Chef]\n"})
    assert (await newest(database)).profile().titles == ("Chef",)


async def test_the_preview_shows_changes_and_saves_nothing(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database)
    postings = [catalog.posting(n, title=HOSTILE if n == 1 else "Cook") for n in range(3)]
    async with database.transaction() as tx:
        await catalog.run(tx, await catalog.make_source(tx), 1, postings)
    answer = await site.post("/profile/edit", data=form(titles="Chef", action="preview"))
    page = read_text(answer)
    assert "All 3 open jobs" in page
    assert "+ - Chef" in page
    assert "<script>alert" not in answer.text
    assert (await newest(database)).version == 1
    await site.post("/profile/edit", data=form(titles="Chef", rescore="yes"))
    async with database.transaction() as tx:
        assert await judging_feed.count(tx, (await profiles.get(tx, "main")).profile_id) == 3


async def test_a_conflicting_save_is_refused_once_and_then_allowed(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database)
    await keep(database, YAML.replace("Cook", "Baker"))
    answer = await site.post("/profile/edit", data=form(titles="Chef"))
    assert answer.status_code == 409
    assert "its newest version is 2" in answer.text
    assert 'name="after" value="2"' in answer.text
    assert "Chef" in answer.text
    assert (
        await site.post("/profile/edit", data=form(titles="Chef", after="2"))
    ).status_code == 303


async def test_a_profile_is_paused_resumed_and_made_the_default(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database)
    await keep(database, name="other")
    for path, words in (
        ("pause", "is paused"),
        ("activate", "is active again"),
        ("default", "the default profile"),
    ):
        answer = await site.post(f"/profile/{path}", data={"profile": "other"})
        assert words in (await site.get(answer.headers["location"])).text
    async with database.transaction() as tx:
        assert (await profiles.get(tx)).name == "other"


async def test_hostile_text_is_escaped(site: httpx2.AsyncClient, database: Database) -> None:
    await keep(
        database,
        profile_document.to_yaml(
            profile_document.validate({"titles": [HOSTILE], "summary": HOSTILE}, "x")
        ),
    )
    for path in ("/profile", "/profile/edit", "/profile/edit?how=yaml", "/profile/version"):
        text = (await site.get(path)).text
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "&lt;script&gt;alert(1)" in text


RESUMES = {
    "text": ("cv.txt", helpers.TEXT.encode()),
    "utf-16": ("cv.txt", helpers.TEXT.encode("utf-16")),
    "docx": ("cv.docx", helpers.word()),
    "pdf": ("cv.pdf", helpers.pdf(helpers.TEXT.splitlines())),
    "json": ("cv.json", helpers.json_resume()),
}


@pytest.mark.parametrize("kind", RESUMES)
async def test_a_resume_is_read_for_review_and_nothing_is_saved(
    empty_site: httpx2.AsyncClient, empty_database: Database, kind: str
) -> None:
    answer = await empty_site.post("/profile/upload", files={"file": RESUMES[kind]})
    page = read_text(answer)
    assert answer.status_code == 200
    assert f"Resume read: {RESUMES[kind][0]}" in page
    assert "Not found in the resume:" in page
    assert 'value="PostgreSQL"' in page
    async with empty_database.transaction() as tx:
        assert await profiles.find_all(tx) == []


async def test_a_pasted_resume_keeps_existing_preferences(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await keep(database, "locations: [Porto]\nperson: {timezone: Europe/Lisbon}\n")
    page = (await site.post("/profile/upload", files={"text": (None, helpers.TEXT)})).text
    assert "Porto" in page
    assert "Europe/Lisbon" in page
    assert 'value="Terraform"' in page
    assert 'name="seniority" value="senior" checked' in page
    await keep(database, "seniority: [mid]\n")
    page = (await site.post("/profile/upload", files={"text": (None, helpers.TEXT)})).text
    assert re.findall(r'name="seniority" value="(\w+)" checked', page) == ["mid"]
    assert 'value="Dana Pell"' in page


def bad_resumes() -> dict[str, tuple[str, bytes]]:
    return {
        "nothing": ("cv.txt", b""),
        "blank": ("cv.txt", b" \n\t "),
        "zip bomb": ("cv.docx", helpers.word_with("word/document.xml", b" " * 70_000_000)),
        "locked pdf": ("cv.pdf", helpers.encrypted_pdf()),
        "huge pdf": ("cv.pdf", helpers.pdf_of(b"BT /F1 11 Tf " + b"(x) Tj " * 3_000_000 + b"ET")),
        "broken pdf": ("cv.pdf", b"%PDF-1.7\n" + b"\xff" * 5_000),
        "broken docx": ("cv.docx", b"PK\x03\x04" + b"\0" * 500),
        "old word": ("cv.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500),
        "picture": ("cv.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0" * 200),
        "too big": ("cv.txt", b"x" * 5_500_000),
        "too long": ("cv.txt", b"word " * 100_000),
        "hostile name": ('"><img src=x onerror=alert(1)>.pdf', b"%PDF-1.7\n nothing"),
    }


BAD = bad_resumes()


@pytest.mark.parametrize("kind", BAD)
async def test_unreadable_resumes_are_refused_with_an_explanation(
    empty_site: httpx2.AsyncClient, kind: str
) -> None:
    answer = await empty_site.post("/profile/upload", files={"file": BAD[kind]})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "<img src=x" not in answer.text


async def test_only_resume_uploads_may_be_large(site: httpx2.AsyncClient) -> None:
    many = {"file": ("cv.txt", b"x" * 7_000_000)}
    assert (await site.post("/profile/upload", files=many)).status_code == 413
    assert (await site.post("/profile/edit", content=b"x" * 2_000_000)).status_code == 413


async def test_malformed_forms_are_refused(site: httpx2.AsyncClient) -> None:
    odd = {"content-type": "multipart/form-data; boundary=x", "accept": "text/html"}
    for body in (b"", b"--x\r\nnonsense", b"\xff" * 100):
        answer = await site.post("/profile/upload", content=body, headers=odd)
        assert answer.status_code in (400, 422)
    assert (await site.post("/profile/edit", content=b"\xff\xfe")).status_code == 400
    assert (await site.post("/profile/edit", data={"name": "a\0"})).status_code == 400


async def test_only_those_with_a_job_search_see_and_change_profiles(database: Database) -> None:
    await keep(database)
    async with site_with(database) as site:
        reader, recruiter = await bearer(database, "viewer"), await bearer(database, "recruiter")
        assert (await site.get("/profile", headers=reader)).status_code == 200
        assert (await site.get("/profile", headers=recruiter)).status_code == 404
        for path in ("edit", "upload", "pause", "activate", "default"):
            assert (await site.post(f"/profile/{path}", headers=reader)).status_code == 403
            assert (await site.post(f"/profile/{path}", headers=recruiter)).status_code == 404
        assert (await site.get("/profile")).status_code == 401


async def test_a_proposed_rule_is_shown_with_its_effect_and_decided(
    site: httpx2.AsyncClient, database: Database
) -> None:
    assert "No rules to decide on." in (await site.get("/profile/rules")).text
    postings = [catalog.posting(n, f"Clerk {n}", company="Mill Ltd") for n in range(2)]
    async with database.transaction() as tx:
        place = await judged.make(tx, postings=postings)
        for listing in place.listings:
            id = await matches.save_verdict(tx, place.word(90, listing, local_score=0))
            await matches.set_status(tx, id or 0, "dismissed")
            await matches.set_dismiss_reason(tx, id or 0, "company")
    assert "Your dismissal reasons suggest 1 rule." in (await site.get("/matches")).text
    page = await site.get("/profile/rules")
    assert "Hide all jobs at Mill Ltd." in page.text
    assert "You dismissed 2 matches for this reason." in page.text
    assert "Would have hidden 2 of your last 2 matches, none of which you kept." in page.text
    form = {"rule": "company:mill ltd", "decision": "accepted"}
    accepted = await site.post("/profile/rules", data=form)
    assert accepted.status_code == 303
    page = await site.get(accepted.headers["location"])
    assert "Rule accepted." in page.text
    assert "Hide all jobs" not in page.text
    async with database.transaction() as tx:
        assert (await profiles.get(tx)).profile().stop_lists.companies == ("Mill Ltd",)
    assert (await site.post("/profile/rules", data=form)).status_code == 404
