"""/setup: five steps to the first matches."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.catalog import companies, sources
from jobmill.db import Database
from jobmill.matching import matches, profiles
from jobmill.matching.profile import Profile, ProfilePerson
from jobmill.pipelines import discovery, source
from jobmill.queue import Stage, declare_stages, inspect
from jobmill.rotation import searches
from jobmill.settings import Settings
from jobmill.web.site_settings import SiteSettings
from tests.catalog.helpers import make_source, posting, run
from tests.matching import helpers, judged, profession_resumes
from tests.outside.model_server import ModelServer, answer, open_server, trouble
from tests.people.helpers import PASSWORD, bearer, make_person
from tests.queue.helpers import never
from tests.web.helpers import site_with

KEY = {"ANTHROPIC_API_KEY": "sk-secret-of-dana"}


@pytest.fixture
async def provider() -> AsyncIterator[ModelServer]:
    async with open_server() as server:
        yield server


async def know_phases(database: Database) -> None:
    """Declare the stages, as a worker does when it starts."""
    phases = ((source.KIND, "scrape"), (discovery.KIND, "discover"))
    async with database.transaction() as tx:
        await declare_stages(tx, {phase: Stage(never) for phase in phases})


def words(page: httpx2.Response) -> str:
    return html.unescape(re.sub(r"\s+", " ", page.text))


async def test_the_steps_lead_from_a_resume_to_the_first_matches(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await know_phases(database)
    assert "Start setup" in (await site.get("/setup")).text
    review = await site.post("/setup/resume", files={"file": ("cv.txt", helpers.TEXT.encode())})
    assert "Resume read: cv.txt" in words(review)
    # The step says what happened, and nothing is ticked that the resume does not say.
    assert [step.attributes["class"] for step in Html(review.text).css(".setup-steps li")][:2] == [
        "done", "now",
    ]  # fmt: skip
    assert not Html(review.text).css('[name="arrangements"][checked]')
    assert "America/Los_Angeles" not in review.text
    form = {"name": "main", "after": "0", "how": "fields", "base": "{}", "titles": "Cook",
            "resume": "cv.txt",
            "arrangements": "remote", "skill": "Python", "rank": "primary", "years": "8"}  # fmt: skip
    # The home city has no default, since it decides which jobs fit.
    unsaid = await site.post("/setup/profile", data=form)
    assert unsaid.status_code == 422
    assert 'id="error-person.home_city"' in unsaid.text
    form |= {"person.home_city": "Lyon", "person.timezone": "Europe/Paris"}
    saved = await site.post("/setup/profile", data=form)
    assert (saved.status_code, saved.headers["location"]) == (303, "/setup/companies")
    chosen = {"chosen": ["greenhouse/stripe", "ashby/linear"], "pasted": "acme.example/careers"}
    added = await site.post("/setup/companies", data=chosen)
    assert (added.status_code, added.headers["location"]) == (303, "/setup/model")
    assert (await site.get("/setup/model")).status_code == 200
    first = words(await site.get("/setup/matches"))
    assert "0 of 2 job boards read" in first
    assert "No worker is running" in first
    async with database.transaction() as tx:
        assert (await profiles.get(tx, "main")).profile().titles == ("Cook",)
        assert {row.name for row in await sources.find(tx)} == {"Stripe", "Linear"}
        assert {row.name for row in await companies.find(tx)} == {"Stripe", "Linear"}
        phases = {(row.kind, row.stage): row.pending for row in await inspect.list_phases(tx)}
    assert phases == {("source", "scrape"): 2, ("source_discovery", "discover"): 1}


async def test_every_step_can_be_opened_on_its_own_and_skipped(
    empty_site: httpx2.AsyncClient,
) -> None:
    for step in ("resume", "profile", "companies", "model", "matches"):
        page = await empty_site.get(f"/setup/{step}")
        assert page.status_code == 200
        assert 'aria-current="step"' in page.text
    skip = {"resume": "profile", "profile": "companies", "companies": "model", "model": "matches"}
    for step, then in skip.items():
        assert f'href="/setup/{then}"' in (await empty_site.get(f"/setup/{step}")).text


async def test_searching_keeps_what_is_chosen_and_pasted(empty_site: httpx2.AsyncClient) -> None:
    query = {"q": "voices", "chosen": ["greenhouse/stripe", "nobody/x"], "pasted": "acme.example/x"}
    page = await empty_site.get("/setup/companies", params=query)
    assert re.search(r'value="greenhouse/stripe" checked', page.text)
    assert 'value="ashby/elevenlabs">' in page.text
    assert 'value="greenhouse/airbnb"' not in page.text
    assert "acme.example/x" in page.text
    assert "1 of" in words(page)


async def test_invalid_lines_are_shown_and_nothing_is_added(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await know_phases(database)
    sent = {
        "chosen": "greenhouse/stripe",
        "pasted": "<script>alert(1)</script>\njavascript:alert(1)",
    }
    page = await site.post("/setup/companies", data=sent)
    assert page.status_code == 422
    assert "<script>alert" not in page.text
    assert words(page).count("javascript:alert(1)") >= 2
    assert re.search(r'value="greenhouse/stripe" checked', page.text)
    async with database.transaction() as tx:
        assert await sources.find(tx) == []


@pytest.mark.parametrize("pasted", ["", " \r\n\r\n "])
async def test_continuing_without_a_selection_is_refused_with_a_link_to_skip(
    site: httpx2.AsyncClient, database: Database, pasted: str
) -> None:
    await know_phases(database)
    page = await site.post("/setup/companies", data={"pasted": pasted, "q": "pay"})
    assert page.status_code == 422
    alert = Html(page.text).css_first('[role="alert"]')
    assert "No companies selected" in alert.text()
    skip = alert.css_first("a")
    assert (skip.text(), skip.attributes["href"]) == ("Skip this step", "/setup/model")
    assert 'value="pay"' in page.text
    assert "No companies selected" not in (await site.get("/setup/companies")).text


async def states(site: httpx2.AsyncClient, path: str) -> list[str]:
    page = Html((await site.get(path)).text)
    return [step.attributes["class"] or "" for step in page.css(".setup-steps li")]


async def test_each_step_shows_its_state(database: Database) -> None:
    async with site_with(
        database, local=True, site_settings=SiteSettings.from_settings(Settings())
    ) as site:
        fresh = ["to-come", "to-come", "to-come", "optional", "to-come"]
        assert await states(site, "/setup") == fresh
        skipped = ["skipped", "skipped", "skipped", "skipped", "now"]
        assert await states(site, "/setup/matches") == skipped
        assert "optional" in (await site.get("/setup")).text
        async with database.transaction() as tx:
            place = await judged.make(tx)
            assert await matches.save_verdict(tx, place.word(90))
        assert await states(site, "/setup") == ["not-needed", "done", "done", "optional", "done"]
        assert await states(site, "/setup/matches") == [
            "not-needed",
            "done",
            "done",
            "skipped",
            "now",
        ]
    async with site_with(
        database,
        local=True,
        site_settings=SiteSettings.from_settings(Settings(), KEY),
    ) as site:
        assert await states(site, "/setup") == ["not-needed", *["done"] * 4]
        assert "not started" not in (await site.get("/setup")).text


async def test_a_text_without_resume_data_is_refused_and_kept(site: httpx2.AsyncClient) -> None:
    for path, by_hand in (
        ("/setup/resume", "/setup/profile"),
        ("/profile/upload", "/profile/edit"),
    ):
        page = await site.post(path, files={"text": (None, "asdf")})
        assert page.status_code == 422
        alert = Html(page.text).css_first('[role="alert"]')
        assert "Nothing was found in the pasted text" in alert.text()
        assert alert.css_first("a").attributes["href"] == by_hand
        assert "asdf" in Html(page.text).css_first("textarea").text()
        assert "Resume read" not in page.text


async def test_without_a_worker_adding_companies_is_refused(site: httpx2.AsyncClient) -> None:
    page = await site.post("/setup/companies", data={"chosen": "greenhouse/stripe"})
    assert page.status_code == 503
    assert "no worker has run yet" in page.text
    assert re.search(r'value="greenhouse/stripe" checked', page.text)


async def test_an_invalid_field_in_the_setup_is_marked(site: httpx2.AsyncClient) -> None:
    form = {"name": "main", "after": "0", "base": "{}", "person.timezone": "Mars/Base"}
    page = await site.post("/setup/profile", data=form)
    assert page.status_code == 422
    assert 'id="error-person.timezone"' in page.text
    assert 'value="Mars/Base"' in page.text
    assert 'aria-current="step"' in page.text


async def test_the_model_page_names_the_variable_and_never_shows_the_key(
    database: Database, provider: ModelServer
) -> None:
    provider.says(answer({"word": "ready"}))
    settings = Settings(anthropic_base_url=provider.url)
    async with site_with(
        database, local=True, site_settings=SiteSettings.from_settings(settings)
    ) as site:
        page = await site.get("/setup/model")
        assert "set the environment variable ANTHROPIC_API_KEY" in page.text
        assert "Test models" not in page.text
    async with site_with(
        database, local=True, site_settings=SiteSettings.from_settings(settings, KEY)
    ) as site:
        page = await site.get("/setup/model")
        assert "key is set" in page.text
        assert provider.requests == []
        checked = await site.post("/setup/model")
        again = await site.post("/setup/model")
    assert words(checked).count("it works") == 2
    assert "Cost: $0.0" in words(checked)
    assert len(provider.requests) == 4, "what is remembered proves nothing"
    assert max(request["max_tokens"] for request in provider.requests) <= 200
    assert "sk-secret" not in page.text + checked.text + again.text


async def test_a_refused_key_is_reported(database: Database, provider: ModelServer) -> None:
    provider.says(trouble(401, "invalid key sk-secret-of-dana"))
    settings = Settings(anthropic_base_url=provider.url)
    async with site_with(
        database, local=True, site_settings=SiteSettings.from_settings(settings, KEY)
    ) as site:
        page = await site.post("/setup/model")
    assert page.status_code == 200
    assert "answered 401" in page.text
    assert "sk-secret" not in page.text


async def test_recruiters_have_no_setup_and_seekers_only_their_own_steps(
    database: Database,
) -> None:
    async with site_with(database) as site:
        recruiter, viewer = [await bearer(database, role) for role in ("recruiter", "viewer")]
        assert (await site.post("/setup/model", headers=recruiter)).status_code == 404
        assert (await site.get("/setup", headers=recruiter)).status_code == 404
        for step in ("resume", "profile", "companies"):
            assert (await site.post(f"/setup/{step}", headers=viewer)).status_code == 403
        person = await make_person(database, role="seeker")
        login = {"email": person.email, "password": PASSWORD}
        assert (await site.post("/api/session", json=login)).status_code == 200
        start = await site.get("/setup")
        assert start.status_code == 200
        assert "/setup/profile" in start.text
        assert "/setup/companies" not in start.text
        assert (await site.get("/setup/companies")).status_code == 403
        assert "/setup/companies" not in (await site.get("/setup/matches")).text


async def test_a_resume_of_another_person_replaces_only_after_a_question(
    site: httpx2.AsyncClient, database: Database
) -> None:
    saved = Profile.model_validate(
        {"person": {"name": "Ana Ruiz"}, "skills": ["Welding"], "salary_floor": {"amount": 9}}
    )
    async with database.transaction() as tx:
        await profiles.save(tx, "main", saved)
    text = profession_resumes.NURSE.resume.encode()
    review = await site.post("/setup/resume", files={"file": ("cv.txt", text)})
    fields = Html(review.text)
    assert fields.css_first('[name="replaces"]').attributes["value"] == "Ana Ruiz"
    assert "Welding" not in review.text
    assert not fields.css('[name="person_choice"][checked]')
    form = {"name": "main", "after": "1", "how": "fields", "base": "{}", "resume": "cv.txt",
            "replaces": "Ana Ruiz", "person.name": "Bo Lee", "person.home_city": "Lyon",
            "person.timezone": "Europe/Paris"}  # fmt: skip
    unsaid = await site.post("/setup/profile", data=form)
    assert (unsaid.status_code, "Replace the profile of Ana Ruiz" in words(unsaid)) == (422, True)
    second = await site.post("/setup/profile", data=form | {"person_choice": "new"})
    replaced = await site.post("/setup/profile", data=form | {"person_choice": "replace"})
    assert (second.status_code, replaced.status_code) == (303, 303)
    async with database.transaction() as tx:
        assert (await profiles.get(tx, "bo-lee")).profile().person.name == "Bo Lee"
        newest = await profiles.get(tx, "main")
        first = await profiles.get(tx, "main", version=1)
    assert (newest.version, newest.profile().person.name) == (2, "Bo Lee")
    assert newest.profile().salary_floor is None
    assert first.profile() == saved


async def test_companies_and_searches_are_suggested_from_the_profile(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await know_phases(database)
    async with database.transaction() as tx:
        person = ProfilePerson(home_city="Paris, France", timezone="Europe/Paris")
        nurse = Profile(titles=("Registered Nurse",), person=person)
        await profiles.save(tx, "main", nurse)
    page = Html((await site.get("/setup/companies")).text)
    # No company is suggested because it shares a word or the place; searches come first.
    assert not page.css("#suggested")
    assert "No company in our list is known to hire for: Registered Nurse." in page.text()
    fieldset = page.css("form fieldset")[0]
    assert fieldset.attributes["id"] == "searches"
    assert "Registered Nurse in Paris" in fieldset.text()
    async with database.transaction() as tx:
        job = posting(1, "Registered Nurse, Home Visits", company="Cityblock Health")
        await run(tx, await make_source(tx), 0, [job])
        cityblock = await companies.get_or_create(tx, "Cityblock Health")
        await tx.execute("UPDATE catalog.listing SET company_id = %s", [cityblock])
    page = Html((await site.get("/setup/companies")).text)
    [suggested] = page.css("#suggested .pick")
    assert "Cityblock Health" in suggested.text()
    assert "matches your profile: Registered Nurse, Home Visits" in suggested.text()
    assert "No company in our list" not in page.text()
    async with database.transaction() as tx:
        await profiles.save(
            tx, "main", nurse.model_copy(update={"titles": ("Nurse Informatics Analyst",)})
        )
    page = Html((await site.get("/setup/companies")).text)
    first = page.css("#suggested .pick")[0].text()
    assert "Health:" in first
    assert "matches your profile: Nurse Informatics Analyst, Paris" in first
    assert page.css_first('#searches [value="remotive"]').attributes.get("disabled", "no") == "no"
    assert page.css_first('#searches [value="jooble"]').attributes.get("disabled", "no") != "no"
    # A search alone is enough, and one that needs a key is not added.
    for _ in range(2):
        added = await site.post("/setup/companies", data={"search": ["remotive", "jooble"]})
        assert added.headers["location"] == "/setup/model"
    async with database.transaction() as tx:
        [search] = await searches.list_all(tx)
    assert (search.platform, search.keywords) == ("remotive", ["Nurse Informatics Analyst"])
