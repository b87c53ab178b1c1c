"""Tests of interview times on the pages of recruiters and applicants, in the API and in letters."""

from __future__ import annotations

import asyncio
import datetime as dt

import httpx2
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database, fetch_value
from jobmill.hiring.messages import letter_calendars, letters, notices
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from jobmill.people import secrets
from tests.web.api.helpers import let_pass, make_job
from tests.web.helpers import status_and_code
from tests.web.hiring_helpers import attribute, fill, look, post, text, texts
from tests.web.test_public_pages import offer_of

FORM = {
    "from_time": "09:00",
    "until_time": "10:00",
    "length": "30",
    "pause": "0",
    "places": "1",
    "hours": "24",
    "place": "https://meet.example.org/a?b=1",
    "time_zone": "Europe/Berlin",
}
DAY = (dt.datetime.now(dt.UTC).date() + dt.timedelta(days=30)).isoformat()


async def find_page(database: Database, application: int) -> str:
    """The personal page of the applicant."""
    async with database.transaction() as tx:
        applicant = await fetch_value(
            tx, int, "SELECT applicant_id FROM hiring.application WHERE id = %s", [application]
        )
        signer = LinkSigner(await secrets.get_signing_key(tx))
    return f"/my/{signer.sign_personal(applicant or 0, 1, dt.datetime.now(dt.UTC))}"


async def test_a_recruiter_plans_times_and_applicants_book_them_without_scripts(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, 2)
    ada, ben = await fill(site, job, "Ada Ben")
    here = f"/hiring/{job}/interviews"
    assert "No interview times yet." in text(await look(site, here))
    refused = await post(site, here, {**FORM, "first_day": DAY, "length": "90"})
    assert refused.status_code == 400
    page = Html(refused.text)
    assert "No time fits" in text(page, "[role=alert]")
    assert attribute(page, "input[name=place]", "value") == FORM["place"]
    for _ in range(2):
        # Sent twice: each time is added once.
        assert (await post(site, here, {**FORM, "first_day": DAY})).status_code == 303
    shown = await look(site, here)
    assert len(shown.css("#times .interviews > li")) == 2
    assert "09:00 (Europe/Berlin)" in text(shown, "#times")

    mine = await find_page(database, ada)
    assert "Choose a time for your interview." in text(await look(site, mine))
    choose = f"{mine}/applications/{ada}/interview"
    page = await look(site, choose)
    # Only people who come may know the link of the meeting.
    assert FORM["place"] not in page.html
    assert "The location or link is shown after booking." in text(page)
    assert FORM["place"] not in (await site.get(f"/api/applications/{ada}/interview")).text
    first, second = [node.attributes["value"] or "" for node in page.css("input[name=time]")]
    assert (await post(site, f"{choose}/book", {"time": "x"})).status_code == 400
    taps = await asyncio.gather(*(post(site, f"{choose}/book", {"time": first}) for _ in range(3)))
    assert {answer.status_code for answer in taps} == {303}
    booked = await look(site, choose)
    assert "Your interview is at" in text(booked)
    assert attribute(booked, ".notice a", "href") == FORM["place"]
    person = text(await look(site, f"/hiring/{job}/people/{ada}"), "#person")
    assert "Interview booked for" in person
    assert "09:00 (Europe/Berlin) · https://meet.example.org" in person
    # Another person joins the waitlist of the full time, and gets it when it is exchanged.
    theirs = f"{await find_page(database, ben)}/applications/{ben}/interview"
    assert (await post(site, f"{theirs}/book", {"time": first})).status_code == 303
    waiting = text(await look(site, theirs))
    assert "You are number 1 on its waitlist." in waiting
    assert FORM["place"] not in waiting
    assert (await post(site, f"{choose}/book", {"time": second})).status_code == 303
    assert "You have been offered the interview at" in text(await look(site, theirs))
    taps = await asyncio.gather(*(post(site, f"{theirs}/accept") for _ in range(4)))
    assert {answer.status_code for answer in taps} == {303}
    assert texts(await look(site, here), ".booked li") == ["Ben", "Ada"]
    # The page of another applicant shows nothing.
    assert (await site.get(f"{mine}/applications/{ben}/interview")).status_code == 404
    taps = await asyncio.gather(*(post(site, f"{choose}/cancel") for _ in range(2)))
    assert {answer.status_code for answer in taps} == {303}
    assert "Choose a time" in text(await look(site, choose))

    start = f"{DAY}T11:15"
    moved = await post(site, f"{here}/{first}/move", {"starts_at": start, "place": "Room 5"})
    assert moved.status_code == 303
    assert "11:15 (Europe/Berlin)" in text(await look(site, here), "#times")
    assert "It is not emailed, because emails are off." in text(await look(site, here))
    # A time with an offset is that moment, as in the command.
    await post(site, f"{here}/{second}/move", {"starts_at": f"{DAY}T12:30+00:00", "place": ""})
    listed = (await site.get(f"/api/jobs/{job}/interviews")).json()["interviews"]
    assert f"{DAY}T12:30:00.000Z" in [time["startsAt"] for time in listed]
    # Without email the personal page tells it, and at once.
    own_page = theirs.removesuffix(f"/applications/{ben}/interview")
    told = await look(site, own_page)
    changed = "The company changed the time or location of the interview. It is now at"
    assert changed in text(told)
    update = attribute(told, "#mine", "hx-get")
    assert (await site.get(update)).status_code == 204
    assert (await post(site, f"{here}/{first}/move", {"starts_at": "soon"})).status_code == 400
    asked = Html((await post(site, f"{here}/{first}/cancel", {"reason": "ill"})).text)
    assert "1 person has booked this interview time or is waiting for it." in text(
        asked, ".confirmation"
    )
    assert attribute(asked, ".confirmation [name=reason]", "value") == "ill"
    assert "Cancelled" not in text(await look(site, here))
    form = {"reason": "ill", "confirmed": "yes"}
    assert (await post(site, f"{here}/{first}/cancel", form)).status_code == 303
    assert "Cancelled" in text(await look(site, here))
    assert "The company cancelled the interview at" in text(await look(site, update))
    history = texts(await look(site, theirs.removesuffix("/interview")), ".events li > span")
    assert [line.rpartition(" at ")[0] or line for line in history] == [
        "The company cancelled the interview",
        changed.removesuffix(" at"),
        "The place in the interview",
        "A place became free for you in the interview",
        "You joined the waitlist for the interview",
        "You applied and got a place.",
    ]
    assert "11:15 (Europe/Berlin)" in history[0]
    assert "09:00 (Europe/Berlin)" in history[3]
    assert "ill" not in " ".join(history).split()
    # Ada had another time then: the change is not hers.
    assert changed not in text(await look(site, f"{mine}/applications/{ada}"))
    # The address of a time leads to the interviews, and its log stays readable.
    answer = await site.get(f"/hiring/{first}", headers={"Accept": "text/html"})
    assert answer.headers["location"] == here
    assert "Ben" in text(await look(site, f"/hiring/{first}/events"))


async def test_an_offered_interview_time_is_answered_in_its_own_words(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, 3)
    ada, ben, cid = await fill(site, job, "Ada Ben Cid")
    await post(site, f"/hiring/{job}/interviews", {**FORM, "first_day": DAY})
    first = (await site.get(f"/api/applications/{ada}/interview")).json()["times"][0]["id"]
    bookings = [
        (await site.put(f"/api/applications/{id}/interview", json={"interviewId": first})).json()
        for id in (ada, ben, cid)
    ]
    waiting = bookings[1]["applicationId"]
    await site.delete(f"/api/applications/{ada}/interview")
    shown = text(await look(site, await offer_of(database, waiting)))
    assert "You have been offered the interview at" in shown
    assert "If you decline, you can choose another time." in shown
    missed = 24 * 3_600 + 1
    await let_pass(database, first, missed)
    late = await post(site, await offer_of(database, waiting), {"answer": "accept"})
    again = "You answered too late and are back on the waitlist for this interview time."
    assert (late.status_code, text(Html(late.text), "[role=status]")) == (410, again)
    # The last time it is over; the application for the opening is not.
    async with database.transaction() as tx:
        await tx.execute("UPDATE hiring.opening SET max_missed = 2 WHERE id = %s", [first])
    await site.delete(f"/api/applications/{cid}/interview")
    theirs = f"{await find_page(database, ben)}/applications/{ben}/interview"
    assert "You have been offered the interview at" in text(await look(site, theirs))
    await let_pass(database, first, missed)
    late = await post(site, f"{theirs}/accept")
    ended = "You answered too late. Choose another interview time."
    assert (late.status_code, text(Html(late.text), "[role=alert]")) == (410, ended)
    for answer, words in (
        ("accept", "You accepted the offer. The interview time is yours."),
        ("decline", "You declined the offer. You can choose another interview time."),
    ):
        for id in (ada, ben):
            await site.put(f"/api/applications/{id}/interview", json={"interviewId": first})
        await site.delete(f"/api/applications/{ada}/interview")
        booking = (await site.get(f"/api/applications/{ben}/interview")).json()["booking"]
        offer = await offer_of(database, booking["applicationId"])
        answered = await post(site, offer, {"answer": answer})
        assert text(Html(answered.text), "[role=status]") == words
        await site.delete(f"/api/applications/{ben}/interview")


async def test_the_api_plans_and_books_times(site: httpx2.AsyncClient, database: Database) -> None:
    job = await make_job(site, 2)
    ada, ben = await fill(site, job, "Ada Ben")
    body = {
        "firstDay": DAY,
        "fromTime": "09:00",
        "untilTime": "11:00",
        "lengthMinutes": 60,
        "timeZone": "UTC",
    }
    made = await site.post(f"/api/jobs/{job}/interviews", json=body)
    assert made.status_code == 201
    first, second = [time["id"] for time in made.json()["interviews"]]
    assert (await site.post(f"/api/jobs/{job}/interviews", json=body)).json()["interviews"] == []
    assert job in [shown["id"] for shown in (await site.get("/api/jobs")).json()]
    assert first not in [shown["id"] for shown in (await site.get("/api/jobs")).json()]
    path = f"/api/applications/{ada}/interview"
    assert [time["id"] for time in (await site.get(path)).json()["times"]] == [first, second]
    booked = await site.put(path, json={"interviewId": first})
    assert (booked.status_code, booked.json()["status"]) == (200, "ACTIVE")
    assert status_and_code(await site.put(path, json={"interviewId": first})) == (409, "CONFLICT")
    assert status_and_code(await site.put(path, json={"interviewId": 999}))[0] == 404
    waits = await site.put(f"/api/applications/{ben}/interview", json={"interviewId": first})
    assert waits.json()["queuePosition"] == 1
    listed = (await site.get(f"/api/jobs/{job}/interviews")).json()
    assert [booking["applicantName"] for booking in listed["bookings"]] == ["Ada", "Ben"]
    assert (await site.delete(path)).status_code == 204
    assert (await site.get(path)).json()["booking"] is None
    moved = await site.post(f"/api/interviews/{second}/move", json={"startsAt": f"{DAY}T15:00:00Z"})
    assert moved.json()["startsAt"] == f"{DAY}T15:00:00.000Z"
    cancelled = await site.post(f"/api/interviews/{first}/cancel", json={})
    assert cancelled.json()["status"] == "closed"
    assert status_and_code(await site.post(f"/api/interviews/{job}/cancel", json={}))[0] == 404


async def test_the_id_of_an_interview_time_is_no_opening(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    await post(site, f"/hiring/{job}/interviews", {**FORM, "first_day": DAY})
    listed = (await site.get(f"/api/jobs/{job}/interviews")).json()["interviews"]
    first, second = [time["id"] for time in listed]
    await site.post(f"/api/interviews/{first}/cancel", json={})
    # A new time takes the place of the cancelled one, which must not come back.
    await post(site, f"/hiring/{job}/interviews", {**FORM, "first_day": DAY})
    before = await read_openings(database)
    for id in (first, second):
        statuses: dict[str, int] = {}
        for method, path, body in (
            ("GET", "settings", None),
            ("PATCH", "settings", {"title": "Cook"}),
            ("POST", "capacity", {"capacity": 5}),
            ("POST", "pause", None),
            ("POST", "resume", None),
            ("POST", "close", None),
            ("POST", "reopen", None),
            ("POST", "close-and-tell", {"tell": False}),
            ("PUT", "form", {"fields": [{"label": "Why us?", "type": "long_text"}]}),
            (
                "POST",
                "bulk",
                {"action": "message", "applicationIds": [1], "reason": "x", "message": "Hi"},
            ),
            ("PUT", "posting", {"employmentType": "FULL_TIME"}),
        ):
            answer = await site.request(method, f"/api/jobs/{id}/{path}", json=body)
            statuses[f"{method} {path}"] = answer.status_code
        answer = await site.get(f"/hiring/{id}/edit", headers={"Accept": "text/html"})
        statuses["edit"] = answer.status_code
        for path, form in (
            ("edit", {"title": "Cook"}),
            ("change/capacity", {"capacity": "5"}),
            ("change/pause", {}),
            ("change/reopen", {}),
            ("close", {"waiting": "keep"}),
            ("close", {"waiting": "end"}),
        ):
            statuses[path] = (await post(site, f"/hiring/{id}/{path}", form)).status_code
        assert {path: status for path, status in statuses.items() if status != 404} == {}
    assert await read_openings(database) == before


async def read_openings(database: Database) -> list[Opening]:
    async with database.transaction() as tx:
        return await openings.list_openings(tx, with_interviews=True)


async def test_letters_about_interviews_bring_a_calendar_file(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, 1)
    [ada] = await fill(site, job, "Ada")
    await post(site, f"/hiring/{job}/interviews", {**FORM, "first_day": DAY})
    async with database.transaction() as tx:
        first = await fetch_value(tx, int, "SELECT min(id) FROM hiring.opening WHERE id > 1")
    await site.put(f"/api/applications/{ada}/interview", json={"interviewId": first})
    async with database.transaction() as tx:
        id = await fetch_value(
            tx, int, "SELECT id FROM hiring.notice WHERE kind = 'interview_booked'"
        )
        letter = await notices.find_letter(tx, id or 0)
        secret = await secrets.get_signing_key(tx)
    assert letter
    assert notices.reason_not_to_send(letter) is None
    values = letters.template_values(letter, LinkSigner(secret), "https://jobs.example.org")
    written = letters.render_letter(letters.choose_template(letter), values, None)
    assert "09:00 (Europe/Berlin)" in written.body
    assert FORM["place"] in written.body
    file = letter_calendars.make_interview_file(letter, secret, "example.org", values["my_link"])
    assert file
    assert b"SUMMARY:Interview: Baker" in file.content
    await site.delete(f"/api/applications/{ada}/interview")
    async with database.transaction() as tx:
        booked = await notices.find_letter(tx, id or 0)
        ended = await notices.find_letter(tx, (id or 0) + 1)
    assert booked
    assert notices.reason_not_to_send(booked) == "the interview is no longer booked"
    assert ended
    cancelled = letter_calendars.make_interview_file(ended, secret, "example.org", "")
    assert cancelled
    assert b"METHOD:CANCEL" in cancelled.content
    [uid], [later_uid] = [
        [line for line in part.content.splitlines() if line.startswith(b"UID:")]
        for part in (file, cancelled)
    ]
    # The same event of the calendar, changed by the later letter.
    assert uid == later_uid
