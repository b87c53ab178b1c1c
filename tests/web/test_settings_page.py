"""/settings: read-only settings without secrets."""

from __future__ import annotations

import httpx2
from pydantic import SecretStr

from jobmill.db import Database
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


async def test_only_an_admin_sees_the_settings(database: Database) -> None:
    async with site_with(database) as site:
        recruiter = await bearer(database, "recruiter")
        assert (await site.get("/settings", headers=recruiter)).status_code == 403
        admin = await bearer(database, "admin")
        assert (await site.get("/settings", headers=admin)).status_code == 200
