"""Review, lottery and stages: pages used without scripts, and the API."""

from __future__ import annotations

import hashlib

import httpx2
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database
from jobmill.hiring.records.openings import OpeningTerms
from jobmill.web.pages.hiring.stage_pages import name_rows, read_rows
from jobmill.web.pages.openings import terms_form
from tests.web.api.helpers import make_job
from tests.web.hiring_helpers import attribute, fill, look, post, text, texts, the_opening

TERMS = terms_form.to_fields(OpeningTerms("Baker"))


async def test_a_reviewer_scores_accepts_and_rejects(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, 1, admission="review", reviewOrder="score", fairnessProof=True)
    ada, ben, cy, di = await fill(site, job, "Ada Ben Cy Di")
    assert "4 applications need a decision." in text(await look(site, f"/hiring/{job}"))
    assert "Baker: 4 applications need your decision" in text(await look(site, "/today"))
    todo = await look(site, "/hiring")
    assert "4 applications need a decision" in text(todo, "#due")
    assert attribute(todo, "#due a.button", "href") == f"/hiring/{job}/review"
    assert "4 in review" in text(todo, ".cards")
    person = f"/hiring/{job}/people"
    assert (await post(site, f"{person}/{ben}/review/score", {"score": "90"})).status_code == 303
    assert (await post(site, f"{person}/{ben}/review/score", {"score": "900"})).status_code == 400
    assert "Needs your decision. Score 90." in text(await look(site, f"{person}/{ben}"))
    assert texts(await look(site, f"/hiring/{job}/review"), ".reviewed .person-name a") == [
        "Ben",
        "Ada",
        "Cy",
        "Di",
    ]

    answer = await post(site, f"/hiring/{job}/review", {"selected": [ada, ben], "action": "accept"})
    page = await look(site, answer.headers["location"])
    assert "Ben was accepted and joined the waitlist." in text(page, "[role=status]")
    assert "Ben was offered a place." in text(page, "[role=status]")
    again = await post(site, f"/hiring/{job}/review", {"selected": [ada], "action": "reject"})
    assert again.status_code == 409
    assert "it was accepted and is on the waitlist" in again.text
    chosen = {"selected": [di, ben], "action": "reject", "reason": "Late", "tell_reason": "yes"}
    preview = Html((await post(site, f"/hiring/{job}/review", chosen)).text)
    assert texts(preview, ".outcome .badge") == ["Will be rejected", "No change"]
    assert texts(preview, "button.danger") == ["Reject"]
    assert attribute(preview, "[name=reason]", "value") == "Late"
    assert (await the_opening(database, job)).in_review == 2
    nobody = await post(site, f"/hiring/{job}/review", {"action": "reject"})
    assert "Select at least one application." in nobody.text

    proof = text(await look(site, f"/openings/{job}/fairness"))
    assert "The company decides which applications join the waitlist." in proof
    # A replay has them in a list of their own.
    early = await look(site, f"/hiring/{job}/replay/frame?seq=3")
    assert texts(early, "[aria-labelledby=in-review] .person-name") == ["Ada", "Ben"]
    late = await look(site, f"/hiring/{job}/replay/frame?seq=8")
    assert texts(late, "[aria-labelledby=in-review] .person-name") == ["Cy", "Di"]

    form = {"selected": [cy], "action": "reject", "confirmed": "reject", "reason": "No licence"}
    assert (await post(site, f"/hiring/{job}/review", form)).status_code == 303
    late = await post(site, f"{person}/{cy}/review/accept")
    assert (late.status_code, "it has ended" in late.text) == (409, True)

    refused = await post(site, f"/hiring/{job}/edit", {**TERMS, "admission": "first_come"})
    assert (refused.status_code, "1 applications are in review" in refused.text) == (409, True)
    form = {**TERMS, "admission": "first_come", "in_review": "reject"}
    asked = Html((await post(site, f"/hiring/{job}/edit", form)).text)
    assert "Reject 1 application in review?" in text(asked, ".confirmation")
    assert (await the_opening(database, job)).in_review == 1
    hidden = {
        node.attributes["name"] or "": node.attributes["value"] or ""
        for node in asked.css(".confirmation input")
    }
    assert (await post(site, f"/hiring/{job}/edit", hidden)).status_code == 303
    opening = await the_opening(database, job)
    assert (opening.admission, opening.in_review, opening.waiting) == ("first_come", 0, 1)
    statuses = (await site.get(f"/api/jobs/{job}/applications")).json()["items"]
    assert [item["status"] for item in statuses] == [
        "WAITLIST",
        "PENDING_ACKNOWLEDGMENT",
        "INACTIVE",
        "INACTIVE",
    ]
    assert di == statuses[-1]["applicationId"]


async def test_an_applicant_reads_how_a_reviewed_application_stands(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site, 1, admission="review")
    [ada] = await fill(site, job, "Ada")
    applicant = (await site.get(f"/api/jobs/{job}/review")).json()["items"][0]["applicantId"]
    link = (await site.post(f"/api/applicants/{applicant}/link")).json()["url"]
    path = "/my/" + link.rsplit("/", 1)[1]
    assert "Your application is waiting for a decision." in text(await look(site, path))
    await site.post(f"/api/applications/{ada}/score", json={"score": 98})
    await site.post(
        f"/api/applications/{ada}/reject", json={"reason": "A secret", "tellReason": False}
    )
    page = text(await look(site, path))
    assert "Your application was not accepted." in page
    assert "A secret" not in page
    # No part of a date or time has 98.
    assert "98" not in text(await look(site, f"{path}/applications/{ada}"), ".events")
    assert "We review applications before we offer a place." in text(
        await look(site, f"/openings/{job}")
    )


async def test_a_draw_is_final_and_public(site: httpx2.AsyncClient) -> None:
    job = await make_job(site, 1, admission="lottery")
    ids = await fill(site, job, "Ada Ben Cy Di")
    # All are equal before the draw; the page offers nothing that the server refuses.
    for decision, body in (("accept", {}), ("score", {"score": 9})):
        refused = await site.post(f"/api/applications/{ids[0]}/{decision}", json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "ENTRY_AWAITS_DRAW")
    bulk = await post(site, f"/hiring/{job}/review", {"selected": [ids[0]], "action": "accept"})
    assert (bulk.status_code, "before the draw" in bulk.text) == (409, True)
    for page in (f"/hiring/{job}/review", f"/hiring/{job}/people/{ids[0]}"):
        assert not {"Accept", "Save score"} & set(texts(await look(site, page), "main button"))
    people = (await site.get(f"/api/jobs/{job}/applications")).json()["items"]
    link = (await site.post(f"/api/applicants/{people[1]['applicantId']}/link")).json()["url"]
    personal = f"/my/{link.rsplit('/', 1)[1]}"
    # The personal page names no software if the company has no name, and the browser remembers its applicant.
    mine = await look(site, personal)
    assert "Jobmill" not in text(mine, "title, header")
    assert "is entered in the draw" in text(mine)
    shown = text(await look(site, f"/openings/{job}"))
    assert "is entered in the draw" in shown
    assert "waits for a decision" not in shown
    await site.post(f"/api/applications/{ids.pop()}/reject")
    before = (await site.get(f"/api/jobs/{job}/lottery")).json()
    assert (before["seed"], before["order"]) == (None, [])
    assert before["commitment"] in text(await look(site, f"/openings/{job}/draw"))
    assert (await post(site, f"/hiring/{job}/draw")).status_code == 400
    drawn = await post(site, f"/hiring/{job}/draw", {"confirmed": "yes"})
    assert "Entries drawn by lot." in text(await look(site, drawn.headers["location"]))
    proof = (await site.get(f"/api/jobs/{job}/lottery")).json()
    seed = bytes.fromhex(proof["seed"])
    assert hashlib.sha256(seed).hexdigest() == before["commitment"]
    # OPENED and LOTTERY_OPENED come first: the entries are the events 3 to 6.
    assert proof["order"] == sorted(
        (3, 4, 5), key=lambda number: hashlib.sha256(seed + str(number).encode()).digest()
    )
    assert (proof["entries"], proof["removed"]) == (3, [6])
    page = text(await look(site, f"/openings/{job}/draw"))
    assert proof["seed"] in page
    assert ", ".join(map(str, proof["order"])) in page
    path = f"{personal}/applications/{ids[1]}"
    assert "Your number in the draw: 4. See the draw" in text(await look(site, path))
    assert (await post(site, f"/hiring/{job}/draw", {"confirmed": "yes"})).status_code == 409
    assert (await site.post(f"/api/jobs/{job}/draw")).status_code == 409
    other = await make_job(site, 1)
    assert (await site.get(f"/openings/{other}/draw")).status_code == 404


async def test_people_move_between_stages_on_the_board(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, 2)
    ada, ben = await fill(site, job, "Ada Ben")
    form = {"from": "screen", "to": "interview"}
    moved = await post(site, f"/hiring/{job}/people/{ada}/stage", form)
    assert moved.headers["location"] == f"/hiring/{job}/stages#a{ada}"
    outdated = await post(site, f"/hiring/{job}/people/{ada}/stage", form)
    assert outdated.status_code == 409
    person = await look(site, f"/hiring/{job}/people/{ada}")
    assert attribute(person, "#stage [selected]", "value") == "offer"
    frame = await look(site, f"/hiring/{job}/replay/frame?seq=4")
    assert texts(frame, "[aria-labelledby=slots] .person-state .badge") == ["Interview", "Active"]
    assert f"Application {ada} was moved: it is in Interview now." in outdated.text
    page = await look(site, f"/hiring/{job}/stages")
    assert texts(page, ".stages h2") == ["Screen 1", "Interview 1", "Offer 0", "Hired 0"]
    assert "Stage: Interview" in text(await look(site, f"/hiring/{job}/people/{ada}"))
    # A rejection is a form of its own, and a stage that rejects is preselected only on request.
    link = attribute(page, f"#a{ada} a.button", "href")
    assert link == f"/hiring/{job}/people/{ada}?to=rejected#reject"
    rejecting = await look(site, link)
    assert attribute(rejecting, "#reject option[selected]", "value") == "rejected"
    assert texts(rejecting, "#reject button.danger") == ["Reject"]
    plain = await look(site, f"/hiring/{job}/people/{ada}")
    assert texts(plain, "#stage option") == ["Screen", "Offer", "Hired"]
    assert plain.css("#reject option[selected]") == []
    await post(site, f"/hiring/{job}/people/{ben}/stage", {"from": "screen", "to": "hired"})
    assert "Stage: Hired" in text(await look(site, f"/hiring/{job}/people/{ben}"))
    await post(site, f"/hiring/{job}/people/{ben}/stage", {"from": "hired", "to": "screen"})

    edited = {
        "key0": "screen", "name0": "Screen", "kind0": "open", "order0": "1",
        "key1": "interview", "name1": "", "kind1": "open", "order1": "2",
    }  # fmt: skip
    refused = await post(site, f"/hiring/{job}/stages/edit", edited)
    assert (refused.status_code, "1 person is in Interview" in refused.text) == (409, True)
    edited |= {"name1": "Trial day", "key2": "", "name2": "No", "kind2": "rejected"}
    edited["order2"] = "9" * 5_000
    assert (await post(site, f"/hiring/{job}/stages/edit", edited)).status_code == 303
    board = (await site.get(f"/api/jobs/{job}/stages")).json()["stages"]
    assert [(group["stage"]["name"], group["count"]) for group in board] == [
        ("Screen", 1),
        ("Trial day", 1),
        ("No", 0),
    ]
    body = {"fromStage": "interview", "toStage": "no", "reason": "Left", "tellReason": True}
    ended = (await site.post(f"/api/applications/{ada}/stage", json=body)).json()
    assert (ended["status"], ended["stage"]) == ("INACTIVE", "no")
    assert (await the_opening(database, job)).occupied == 1
    body |= {"fromStage": "screen", "toStage": "elsewhere"}
    assert (await site.post(f"/api/applications/{ben}/stage", json=body)).status_code == 404


def test_rows_of_the_stage_form_are_sorted_and_named() -> None:
    form = {"key0": "a", "name0": "A", "order0": "2", "name1": "B b", "order1": "1", "name2": " "}
    assert [(row["key"], row["name"]) for row in name_rows(read_rows(form))] == [
        ("b-b", "B b"),
        ("a", "A"),
    ]
