"""Tests of the page that tells how to turn emails on, and of its test letter."""

from __future__ import annotations

from jobmill.db import Database
from jobmill.settings import Settings
from jobmill.web.rate_limits import TEST_LETTERS_PER_HOUR
from jobmill.web.site_settings import SiteSettings
from tests.outside.mailbox import open_mailbox
from tests.web.api.helpers import make_job
from tests.web.helpers import site_with
from tests.web.hiring_helpers import HTML, look, post, text, texts

PAGE = "/hiring/messages/setup"
LETTERS = "/hiring/company/email-templates"


async def test_the_owner_sees_that_letters_are_off_and_the_way_to_turn_them_on(
    database: Database,
) -> None:
    settings = SiteSettings.from_settings(Settings())
    async with site_with(database, local=True, site_settings=settings) as site:
        job = await make_job(site)
        pages = (f"/hiring/{job}", "/hiring", "/today", "/health", "/hiring/messages")
        for path in (*pages, LETTERS, f"{LETTERS}/applied"):
            page = await look(site, path)
            assert "Emails" in text(page, "main"), path
            links = [str(link.attributes["href"]) for link in page.css("main a")]
            assert PAGE in links, path
        setup = await look(site, PAGE)
        assert "smtp_url: smtp://" in text(setup, "pre")
        assert setup.css(f'main a[href="{LETTERS}"]')
        refused = await site.post(PAGE, data={"address": "me@example.org"}, headers=HTML)
        assert "no mail server is configured" in refused.text
        assert refused.status_code == 503
    # The applicant reads nothing about it but to save the link.
    async with site_with(database, site_settings=settings) as site:
        assert "Emails are off" not in text(await look(site, f"/openings/{job}"))
        assert (await site.get(PAGE, headers=HTML)).status_code in (303, 401, 403)


async def test_a_test_letter_shows_what_the_mail_server_says(database: Database) -> None:
    async with open_mailbox() as mailbox:
        settings = SiteSettings.from_settings(mailbox.settings(public_url="https://wells.example"))
        async with site_with(database, local=True, site_settings=settings) as site:
            assert texts(await look(site, PAGE), "form.form button") == ["Send test email"]
            mailbox.refusals = ["550 no such user"]
            refused = await site.post(PAGE, data={"address": "me@example.org"}, headers=HTML)
            assert "550 no such user" in refused.text
            wrong = await site.post(PAGE, data={"address": "nobody"}, headers=HTML)
            assert wrong.status_code == 400
            sent = await site.post(PAGE, data={"address": " me@example.org"}, headers=HTML)
            assert "The mail server accepted the test email to" in sent.text
            # A test letter can go to any address, so a person sends only a few of them.
            codes = {
                (await site.post(PAGE, data={"address": "nobody"}, headers=HTML)).status_code
                for _ in range(TEST_LETTERS_PER_HOUR)
            }
            assert codes == {400, 429}
            late = await post(site, "/hiring/company/email-templates/applied", {"action": "test"})
            assert late.status_code == 429
    [letter] = mailbox.letters
    assert mailbox.recipients == [["me@example.org"]]
    assert "https://wells.example" in letter.get_content()
