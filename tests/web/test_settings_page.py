"""/settings: settings without secrets; the basics and the model keys can be changed."""

from __future__ import annotations

import httpx2
import pytest
from pydantic import SecretStr

from jobmill.db import Database
from jobmill.people import stored_settings
from jobmill.settings import Settings
from jobmill.web.site_settings import SiteSettings
from tests.people.helpers import bearer
from tests.web.helpers import site_with


async def test_every_setting_is_listed_once_with_its_description(site: httpx2.AsyncClient) -> None:
    page = (await site.get("/settings")).text
    for name, field in Settings.model_fields.items():
        assert page.count(f'<li id="{name}"') == 1
        assert field.description
    assert "Other</h2>" not in page, "each has a group"
    assert "JOBMILL_WEB_PORT" in page
    assert "The lowest level of messages to log." in page


async def test_no_password_is_shown(database: Database) -> None:
    set_to = Settings(
        database_url="postgresql://dana:hunter2@db.example/x",
        database_pooler="transaction",
        database_direct_url="host=direct.example user=dana password=hunter4",
        smtp_url=SecretStr("smtps://dana:hunter3@mail.example"),
        user_agent="<script>alert(1)",
    )
    async with site_with(
        database, local=True, site_settings=SiteSettings.from_settings(set_to)
    ) as site:
        page = (await site.get("/settings")).text
    assert "hunter" not in page
    assert "db.example" in page
    assert "direct.example" in page
    assert "set, hidden" in page
    assert "<script>alert" not in page


async def test_values_that_change_after_a_restart_are_shown(database: Database) -> None:
    async with site_with(
        database,
        local=True,
        site_settings=SiteSettings.from_settings(Settings(web_port=4711)),
    ) as site:
        page = (await site.get("/settings")).text
    assert "4711" in page
    assert "After the next restart:" in page


async def test_what_the_command_line_replaced_needs_no_restart(database: Database) -> None:
    running = SiteSettings.from_settings(Settings(web_port=4711), at_start=Settings())
    async with site_with(database, local=True, site_settings=running) as site:
        page = (await site.get("/settings")).text
    assert "4711" in page
    assert "After the next restart:" not in page
    assert "Restart Jobmill to apply" not in page


async def test_only_an_admin_sees_the_settings(database: Database) -> None:
    async with site_with(database) as site:
        recruiter = await bearer(database, "recruiter")
        assert (await site.get("/settings", headers=recruiter)).status_code == 403
        admin = await bearer(database, "admin")
        assert (await site.get("/settings", headers=admin)).status_code == 200


async def test_an_admin_edits_the_basics_and_another_edit_is_not_lost(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBMILL_BUDGET_MONTH", "30")
    async with site_with(database) as site:
        admin, recruiter = await bearer(database, "admin"), await bearer(database, "recruiter")
        form = {"seen:processors": "", "processors": "4", "budget_month": "99", "contact": ""}
        refused = await site.post("/settings/basics", data=form, headers=recruiter)
        assert refused.status_code == 403
        saved = await site.post("/settings/basics", data=form, headers=admin)
        assert saved.headers["location"] == "/settings?did=saved#basics"
        page = (await site.get("/settings", headers=admin)).text
        assert "environment JOBMILL_BUDGET_MONTH sets it" in page
        assert 'name="budget_month"' not in page
        assert "Restart Jobmill to apply" in page
        # The form of another admin was opened before.
        form |= {"processors": "6", "seen:contact": "", "contact": "me@mill.example"}
        conflict = await site.post("/settings/basics", data=form, headers=admin)
        assert conflict.status_code == 409
        assert 'value="me@mill.example"' in conflict.text, "what was typed is kept"
        wrong = await site.post("/settings/basics", data={"budget_day": "much"}, headers=admin)
        assert (wrong.status_code, "budget_day should be a number" in wrong.text) == (400, True)
    async with database.transaction() as tx:
        assert await stored_settings.read_all(tx) == {"processors": "4"}


async def test_a_pasted_key_is_used_at_once_and_never_shown(database: Database) -> None:
    async with site_with(database, local=True) as site:
        key = {"variable": "ANTHROPIC_API_KEY", "key": "sk-ant-hunter2"}
        assert (await site.post("/settings/model-key", data=key)).status_code == 303
        page = (await site.get("/settings?did=key")).text
        assert "hunter2" not in page
        assert "key is saved" in page
        assert page.count(">in use<") == 2
        assert "hunter2" not in (await site.get("/people/changes")).text
        refused = await site.post("/settings/model-key", data={"variable": "PATH", "key": "x"})
        assert refused.status_code == 400
        for _ in range(2):
            removed = await site.post("/settings/model-key/remove", data=key)
            assert removed.status_code == 303
        assert "key is saved" not in (await site.get("/settings")).text
