"""Repeated applications under other people's addresses."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import re
from contextlib import AsyncExitStack
from itertools import count
from typing import Any

import httpx2
import pytest

from jobmill.db import Database, Tx
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import apply_requests, submissions
from jobmill.hiring.messages import notices
from jobmill.hiring.records import applicants, blocklist
from jobmill.hiring.records.applicants import parse_contact
from jobmill.hiring.records.apply_limits import (
    PublicApplyLimits,
    list_limits,
    network_of,
)
from jobmill.people import secrets
from jobmill.pipelines.notices import LetterSender
from jobmill.settings import Settings
from jobmill.web.site_settings import SiteSettings
from tests.hiring.helpers import make_opening
from tests.hiring.test_apply_requests import place
from tests.queue.helpers import fetch
from tests.web.helpers import site_with
from tests.web.hiring_helpers import HTML

BEFORE = SiteSettings(sends_mail=True, confirm_address="before")
WITHIN = SiteSettings(sends_mail=True, confirm_address="within")
MAIL = Settings.model_validate({"smtp_url": "smtp://127.0.0.1:9", "mail_from": "a@wells.example"})
URGENT = "URGENT your payroll login expires today"


async def opening_with(database: Database, capacity: int = 3, **terms: Any) -> int:
    async with database.transaction() as tx:
        return (await make_opening(tx, capacity, **terms)).id


async def apply_by_api(
    site: httpx2.AsyncClient, opening: int, email: str, name: str = "Ada"
) -> httpx2.Response:
    return await site.post(
        "/api/apply-public", json={"name": name, "email": email, "jobId": opening}
    )


async def apply_by_form(
    site: httpx2.AsyncClient, opening: int, email: str, name: str = "Ada", **fields: str
) -> httpx2.Response:
    form = {"name": name, "email": email, **fields}
    return await site.post(f"/openings/{opening}", data=form, headers=HTML)


async def test_a_burst_of_unconfirmed_applications_takes_no_slot(database: Database) -> None:
    opening = await opening_with(database)
    # A busy machine may need long for 105 requests at once.
    patient: dict[str, Any] = {"public_per_minute": 1_000, "database_timeout": 60}
    async with site_with(database, site_settings=BEFORE, **patient) as site:
        site.timeout = 120
        answers = await asyncio.gather(
            *(apply_by_api(site, opening, f"victim{n}@example.org") for n in range(105))
        )
    assert {answer.status_code for answer in answers} == {202}
    async with database.transaction() as tx:
        assert await fetch(tx, "SELECT occupied, waiting, last_seq FROM hiring.opening") == [
            (0, 0, 1)
        ]
        assert await applicants.list_applicants(tx) == []


async def test_the_default_settings_stop_a_burst_from_one_network(database: Database) -> None:
    opening = await opening_with(database)
    defaults = SiteSettings.from_settings(MAIL)
    assert defaults.confirm_address == "before"
    limit = defaults.public_apply_limits.network
    async with site_with(database, site_settings=defaults, public_per_minute=1_000) as site:
        answers = [
            await apply_by_api(site, opening, f"ada@example{n}.org") for n in range(limit + 5)
        ]
    statuses = [answer.status_code for answer in answers]
    assert statuses == [202] * limit + [429] * 5
    assert int(answers[-1].headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("limits", "emails"),
    [
        (PublicApplyLimits(opening=4), [f"ada@example{n}.org" for n in range(8)]),
        (PublicApplyLimits(network=4), [f"ada@example{n}.org" for n in range(8)]),
        (PublicApplyLimits(domain=4), [f"ada{n}@mail{n}.evil.example" for n in range(8)]),
    ],
)
async def test_limits_hold_over_two_servers(
    database: Database, url: str, limits: PublicApplyLimits, emails: list[str]
) -> None:
    opening = await opening_with(database)
    settings = SiteSettings(public_apply_limits=limits)
    async with AsyncExitStack() as stack:
        sites = [
            await stack.enter_async_context(site_with(database, site_settings=settings))
            for _ in range(2)
        ]
        answers = await asyncio.gather(
            *(apply_by_api(sites[n % 2], opening, email) for n, email in enumerate(emails))
        )
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [201] * 4 + [429] * 4
    assert all(
        int(answer.headers["retry-after"]) > 0 for answer in answers if answer.status_code == 429
    )


def test_networks_are_unmapped_and_free_mail_domains_not_limited() -> None:
    assert network_of("192.0.2.77") == network_of("::ffff:192.0.2.1") == "192.0.2.0/24"
    assert network_of("2001:db8:1:2::1") == network_of("2001:db8:1:ffff::9") == "2001:db8:1::/48"
    limits = PublicApplyLimits(1, 1, 1)
    assert len(list_limits(1, "192.0.2.1", "ada@gmail.com", limits)) == 2
    [*_, first] = list_limits(1, "192.0.2.1", "ada@a.evil.co.uk", limits)
    [*_, second] = list_limits(1, "192.0.2.1", "bob@b.evil.co.uk", limits)
    [*_, third] = list_limits(1, "192.0.2.1", "bob@other.co.uk", limits)
    assert first == second != third


async def test_company_members_are_not_limited_and_need_no_confirmation(
    database: Database,
) -> None:
    opening = await opening_with(database)
    settings = SiteSettings(
        sends_mail=True, confirm_address="before", public_apply_limits=PublicApplyLimits(1, 1, 1)
    )
    async with site_with(database, site_settings=settings, local=True) as site:
        answers = [await apply_by_api(site, opening, f"ada{n}@example.org") for n in range(3)]
    assert [answer.status_code for answer in answers] == [201] * 3
    assert set(answers[0].json()) == {
        "applicationId", "applicantId", "jobId", "status", "queuePosition", "message",
    }  # fmt: skip


VARYING = ("date", "x-request-id")


def visible(answer: httpx2.Response, email: str) -> tuple[int, str, dict[str, str]]:
    """Everything that the sender of an application sees, except the address that they entered."""
    headers = {name: text for name, text in answer.headers.items() if name not in VARYING}
    return answer.status_code, answer.text.replace(email, "EMAIL"), headers


@pytest.mark.parametrize("settings", [BEFORE, WITHIN])
@pytest.mark.parametrize("door", [apply_by_api, apply_by_form])
async def test_nobody_learns_whether_an_address_has_applied(
    database: Database, settings: SiteSettings, door: Any
) -> None:
    opening = await opening_with(database, 1)
    has_applied, is_blocked, is_new = "ada1@example.org", "ada2@example.org", "ada3@example.org"
    async with database.transaction() as tx:
        await submissions.apply_with_contact(tx, opening, parse_contact("Ada", has_applied), LOCAL)
        await blocklist.add(tx, is_blocked, "advertises")
    async with site_with(database, site_settings=settings) as site:
        emails = [has_applied, is_blocked, is_new, is_new]
        answers = [visible(await door(site, opening, email), email) for email in emails]
        async with database.transaction() as tx:
            await tx.execute("UPDATE hiring.opening SET status = 'paused'")
        refused = [visible(await door(site, opening, email), email) for email in emails]
    assert answers[0][0] == 202
    assert all(answer == answers[0] for answer in answers)
    assert refused[0][0] == 409
    assert all(answer == refused[0] for answer in refused)
    async with database.transaction() as tx:
        # The owner of the address gets their link instead of an error.
        kinds = await fetch(
            tx,
            """
            SELECT notice.kind FROM hiring.notice
              JOIN hiring.application ON application.id = application_id
              JOIN hiring.applicant ON applicant.id = applicant_id
             WHERE email = %s ORDER BY notice.id
            """,
            [has_applied],
        )
    assert kinds == ["applied", "message"]


async def letters_of(tx: Tx) -> list[str]:
    """All letters as they would be sent, with their headers."""
    sender, secret = LetterSender(MAIL), await secrets.get_signing_key(tx)
    texts: list[str] = []
    for id in await fetch(tx, "SELECT id FROM hiring.notice ORDER BY id"):
        outgoing = await notices.find_letter(tx, id)
        assert outgoing
        assert notices.reason_not_to_send(outgoing) is None
        letter = sender.render(outgoing, secret)
        texts.append(f"{letter.name}\n{letter.subject}\n{letter.body}")
    return texts


async def test_first_letters_carry_no_text_of_strangers(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    contact = parse_contact(URGENT, "victim@example.org")
    await apply_requests.submit(tx, opening.id, contact, dt.timedelta(days=1))
    # Also with confirmation off, or within a window.
    await submissions.apply_with_contact(tx, opening.id, parse_contact(URGENT, "b@example.org"))
    await place(tx, opening)
    await tx.execute("UPDATE hiring.applicant SET name = %s, entered_by_company = false", [URGENT])
    texts = await letters_of(tx)
    assert len(texts) == 3
    assert not [text for text in texts if "URGENT" in text]
    assert all("\nHello,\n" in text for text in texts)


async def test_letters_greet_by_name_after_the_address_was_confirmed(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    contact = parse_contact("Ada Okafor", "ada@example.org")
    await apply_requests.submit(tx, opening.id, contact, dt.timedelta(days=1))
    [id] = await fetch(tx, "SELECT id FROM hiring.apply_request")
    token = apply_requests.ConfirmationToken("request", id)
    await apply_requests.confirm(tx, token)
    await tx.execute("DELETE FROM hiring.notice WHERE kind = 'confirm'")
    [text] = await letters_of(tx)
    assert "Hello Ada Okafor," in text


async def test_a_confirmed_application_opens_the_personal_page(database: Database) -> None:
    opening = await opening_with(database)
    async with site_with(database, site_settings=BEFORE) as site:
        checked = await apply_by_form(site, opening, "ada@example.org")
        assert checked.status_code == 202
        assert "Check your email" in checked.text
        async with database.transaction() as tx:
            [letter] = await letters_of(tx)
        [link] = re.findall(r"/confirm/\S+", letter)
        shown = await site.get(link, headers=HTML)
        assert "You are applying as Ada." in shown.text
        async with database.transaction() as tx:
            # Mail programs follow links.
            assert await applicants.list_applicants(tx) == []
        confirmed = await site.post(link, headers=HTML)
        assert confirmed.status_code == 303
        mine = await site.get(confirmed.headers["location"], headers=HTML)
        assert "You have a place." in mine.text
        # The browser remembers the link, and the address is confirmed.
        second = await opening_with(database)
        applied = await site.post(f"/openings/{second}", data={"as": "me"}, headers=HTML)
        assert (applied.status_code, applied.headers["location"]) == (
            303,
            confirmed.headers["location"],
        )


async def test_without_mail_a_new_applicant_gets_the_page_and_a_stranger_does_not(
    database: Database,
) -> None:
    first, second = [await opening_with(database) for _ in range(2)]
    async with site_with(database) as site:
        assert "not verified" in (await site.get(f"/openings/{first}", headers=HTML)).text
        applied = await apply_by_form(site, first, "ada@example.org")
        assert applied.status_code == 303
        link = applied.headers["location"]
        mine = await site.get(link, headers=HTML)
        assert "Save this link" in mine.text
        assert str(site.base_url.join(link)) in mine.text
    async with site_with(database) as stranger:
        applied = await apply_by_form(stranger, second, "ada@example.org")
        assert (applied.status_code, "location" in applied.headers) == (201, False)
        assert "/my/" not in applied.text
        again = await apply_by_api(stranger, second, "ada@example.org")
        assert again.json()["error"]["code"] == "DUPLICATE_SUBMISSION"


async def test_a_filled_in_hidden_field_is_refused(database: Database) -> None:
    opening = await opening_with(database)
    async with site_with(database, site_settings=BEFORE) as site:
        answer = await apply_by_form(site, opening, "ada@example.org", website="https://evil")
        asked = await site.post(
            "/my", data={"email": "ada@example.org", "website": "x"}, headers=HTML
        )
    assert (answer.status_code, asked.status_code) == (400, 400)
    async with database.transaction() as tx:
        assert await fetch(tx, "SELECT id FROM hiring.apply_request") == []


def solve(challenge: str, bits: int) -> str:
    for number in count():
        proof = f"{challenge}:{number}"
        if int.from_bytes(hashlib.sha256(proof.encode()).digest()) >> (256 - bits) == 0:
            return proof
    raise AssertionError


async def test_a_proof_of_work_counts_once_and_without_it_few_may_apply(
    database: Database,
) -> None:
    opening, other = [await opening_with(database) for _ in range(2)]
    settings = SiteSettings(proof_of_work_bits=6)
    async with site_with(database, site_settings=settings) as site:
        page = (await site.get(f"/openings/{opening}", headers=HTML)).text
        [challenge] = re.findall(r'data-challenge="([^"]+)"', page)
        proof = solve(challenge, 6)
        wrong = [f"{challenge}:x", f"x{challenge}:1", proof + "0" * 9]
        # A browser without JavaScript, and wrong proofs: five of a network in an hour.
        forms = [{}, {}, *({"proof": text} for text in wrong), {}]
        answers = [
            await apply_by_form(site, opening, f"ada{n}@example.org", **form)
            for n, form in enumerate(forms)
        ]
        assert [answer.status_code for answer in answers] == [303] * 5 + [429]
        foreign = await apply_by_form(site, other, "b@example.org", proof=proof)
        proved = await apply_by_form(site, opening, "b@example.org", proof=proof)
        again = await apply_by_form(site, opening, "c@example.org", proof=proof)
    assert [foreign.status_code, proved.status_code, again.status_code] == [429, 303, 429]
