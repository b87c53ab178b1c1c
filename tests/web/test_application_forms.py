"""Applying with an application form: answers beside their messages, safe files, and the editor."""

from __future__ import annotations

import csv
import io
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any, LiteralString

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database
from jobmill.hiring.messages.signed_links import ConfirmationToken, LinkSigner
from jobmill.people import secrets
from jobmill.web.site_settings import SiteSettings
from tests.hiring.forms.documents import GOOD_DOCX, GOOD_PDF, large_pdf, pdf_with
from tests.queue.helpers import fetch
from tests.web.api.helpers import apply, make_job, make_person
from tests.web.helpers import site_with, status_and_code
from tests.web.hiring_helpers import HTML, attribute, look, part, text, texts

FORM: list[dict[str, Any]] = [
    {"type": "file", "label": "CV", "required": True},
    {"type": "phone", "label": "Phone", "required": True, "help": "We call <b>once</b>."},
    {"type": "choices", "label": "Shifts", "choices": ["Day & dawn", "Night"]},
    {"type": "long_text", "label": "Why?"},
    {"type": "links", "label": "Links"},
    {
        "type": "yes_no",
        "label": "Licence",
        "required": True,
        "knockout": {"answers": ["no"], "message": "Thank you! We need a licence."},
    },
    {"type": "consent", "label": "Privacy", "help": "We keep your data.", "required": True},
]
ANSWERS = {
    "answer-phone": "+44 20 7946 0018",
    "answer-shifts": ["Night"],
    "answer-why": "Bread <3",
    "answer-links": "example.org/ada",
    "answer-licence": "yes",
    "answer-privacy": "yes",
}
ADA = {"name": "Ada", "email": "ada@example.org"}


async def put_form(site: httpx2.AsyncClient, job: int, fields: list[dict[str, Any]]) -> int:
    answer = await site.put(f"/api/jobs/{job}/form", json={"fields": fields})
    assert answer.status_code == 200, answer.text
    return answer.json()["version"]


async def send(
    site: httpx2.AsyncClient,
    job: int,
    fields: dict[str, Any],
    cv: bytes | None = None,
    name: str = "cv.pdf",
) -> httpx2.Response:
    # An empty file field is sent as a browser does.
    file = ("", b"") if cv is None else (name, cv)
    return await site.post(f"/openings/{job}", data=fields, files={"answer-cv": file}, headers=HTML)


async def count(database: Database, table: LiteralString) -> int:
    async with database.transaction() as tx:
        [rows] = await fetch(tx, f"SELECT count(*) FROM hiring.{table}")
    return rows


async def test_an_applicant_corrects_the_form_and_the_company_reads_answers_and_file(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, 2)
    version = await put_form(site, job, FORM)
    page = await look(site, f"/openings/{job}")
    assert attribute(page, "form.apply", "enctype") == "multipart/form-data"
    assert "We call <b>once</b>." in text(page, "#answer-phone-help")

    mistakes = {
        **ADA,
        **ANSWERS,
        "email": "ada",
        "form_version": version,
        "answer-phone": "me",
        "answer-privacy": "",
    }
    answer = await send(site, job, mistakes, GOOD_PDF, "../../etc/Ada's <CV>.pdf")
    assert answer.status_code == 400
    page = Html(answer.text)
    assert text(page, ".problem") == (
        "Enter a phone number, such as +44 20 7946 0018. Accept this text to apply."
    )
    assert attribute(page, "#answer-phone", "aria-invalid") == "true"
    assert attribute(page, "#answer-phone", "value") == "me"
    assert part(page, "#answer-why").text().strip() == "Bread <3"
    assert attribute(page, "[name=answer-shifts][checked]", "value") == "Night"
    assert "Uploaded: Ada's CV.pdf." in text(page, ".sent")
    # The next attempt need not send the file again.
    sent = attribute(page, "[name=upload-cv]", "value")
    again = {**ADA, **ANSWERS, "form_version": version, "upload-cv": sent, "key": "k" * 32}
    # Nor does a second tap on the button, although the application has the file now.
    for _ in range(2):
        answer = await send(site, job, again)
        assert answer.status_code == 303, answer.text
    # Nor is the file stored again, or the application lost, if the opening closes before a repeated form.
    await site.post(f"/api/jobs/{job}/close")
    repeated = {**ADA, **ANSWERS, "form_version": version, "key": "k" * 32}
    answer = await send(site, job, repeated, GOOD_PDF)
    assert (answer.status_code, answer.headers.get("location", "")[:4]) == (303, "/my/")
    await site.post(f"/api/jobs/{job}/reopen")
    assert (await count(database, "application"), await count(database, "uploaded_file")) == (1, 1)

    page = await look(site, f"/hiring/{job}/people/1")
    assert texts(page, ".answers dt") == [field["label"] for field in FORM]
    shown = texts(page, ".answers dd")
    assert shown[0].startswith("Ada's CV.pdf 1 kB")
    assert shown[1:4] == ["+44 20 7946 0018", "Night", "Bread <3"]
    assert attribute(page, ".answers a[rel]", "href") == "https://example.org/ada"
    assert "Accepted on" in shown[6]
    assert "We keep your data." in shown[6]
    path = attribute(page, ".answers a[download]", "href")
    file = await site.get(path)
    assert (file.content, file.headers["content-type"]) == (GOOD_PDF, "application/pdf")
    assert file.headers["content-disposition"] == "attachment; filename*=UTF-8''Ada%27s%20CV.pdf"
    assert file.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert file.headers["x-content-type-options"] == "nosniff"
    assert file.headers["cache-control"] == "no-store"
    other = (await apply(site, job))["applicationId"]
    assert (await site.get(path.replace("people/1", f"people/{other}"))).status_code == 404
    anonymous = httpx2.AsyncClient(base_url=site.base_url, verify=False)
    async with anonymous:
        assert (await anonymous.get(path)).status_code in (401, 403)
        api = f"/api/applications/1/files/{path.rpartition('/')[2]}"
        assert (await anonymous.get(api)).status_code in (401, 403)
    assert (await site.get(api)).content == GOOD_PDF
    answers = (await site.get("/api/applications/1/answers")).json()["answers"]
    assert [item["value"] for item in answers][2:4] == [["Night"], "Bread <3"]

    rows = list(
        csv.DictReader(io.StringIO((await site.get(f"/api/jobs/{job}/applications.csv")).text))
    )
    assert (rows[0]["CV"], rows[0]["Phone"], rows[1]["CV"]) == (
        "Ada's CV.pdf",
        "'+44 20 7946 0018",
        "",
    )


async def test_an_applicant_sees_what_they_sent_and_nobody_elses_file(
    database: Database,
) -> None:
    async with site_with(database, local=True) as company:
        job = await make_job(company, 3)
        version = await put_form(company, job, FORM[:1])
    async with site_with(database) as site:
        paths: list[str] = []
        for name in ("ada", "ben"):
            site.cookies.clear()
            who = {"name": name, "email": f"{name}@example.org", "form_version": version}
            answer = await send(site, job, who, GOOD_DOCX, f"{name}.docx")
            assert answer.status_code == 303, answer.text
            paths.append(answer.headers["location"])
        page = await look(site, f"{paths[0]}/applications/1")
        assert "ada.docx" in text(page, ".answers")
        file = attribute(page, ".answers a[download]", "href")
        assert (await site.get(file)).content == GOOD_DOCX
        stolen = file.replace(paths[0], paths[1])
        assert (await site.get(stolen)).status_code == 404
        assert (await site.get(file.replace("/1/files", "/2/files"))).status_code == 404
        exported = (await site.get(f"{paths[0]}/export")).json()
        assert [row["name"] for row in exported["files"]] == ["ada.docx"]
        await site.post(f"{paths[0]}/erase", data={"confirmed": "yes"})
        assert (await site.get(file)).status_code == 401
        assert await count(database, "uploaded_file") == 1


async def test_only_the_company_sees_that_an_answer_is_to_be_reviewed(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    knockout = {"below": 1234567.5, "keepForReview": True, "message": "Too few"}
    questions = [{"type": "number", "label": "Parts", "knockout": knockout}, FORM[-1]]
    version = await put_form(site, job, questions)
    # The editor shows the number as it was typed, so that saving the form does not change it.
    page = await look(site, f"/hiring/{job}/form")
    assert attribute(page, "[name=below-0]", "value") == "1234567.5"
    digits = {"do": f"up-{'9' * 5_000}"}
    assert (await site.post(f"/hiring/{job}/form", data=digits)).status_code == 200
    sent = {"form_version": version, "answer-parts": "9", "answer-privacy": "yes"}
    settings = SiteSettings(sends_mail=True, confirm_address="before")
    async with site_with(database, site_settings=settings) as public:
        assert (await send(public, job, {**ADA, **sent})).status_code == 202
        async with database.transaction() as tx:
            signer = LinkSigner(await secrets.get_signing_key(tx))
        token = signer.sign_confirmation(ConfirmationToken("request", 1))
        page = await look(public, f"/confirm/{token}")
        assert texts(page, ".answers dd")[0] == "9"
        answer = await public.post(f"/confirm/{token}", headers=HTML)
        link = answer.headers["location"]
        page = await look(public, f"{link}/applications/1")
        assert texts(page, ".answers dd")[0] == "9"
        assert attribute(page, ".answers time", "datetime")
        exported = await public.get(f"{link}/export")
        assert exported.json()["answers"][0]["questions"][0]["label"] == "Parts"
        assert "knockout" not in exported.text
    page = await look(site, f"/hiring/{job}/people/1")
    assert texts(page, ".answers dd")[0] == "9 Review this answer"


async def test_a_knockout_answer_ends_the_application_kindly_and_stores_nothing(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    version = await put_form(site, job, FORM)
    fields = {**ADA, **ANSWERS, "form_version": version, "answer-licence": "no"}
    answer = await send(site, job, fields, GOOD_PDF)
    assert answer.status_code == 409
    assert "Thank you! We need a licence." in text(Html(answer.text))
    for table in ("application", "applicant", "form_answer", "uploaded_file"):
        assert await count(database, table) == 0, table
    page = await look(site, f"/hiring/{job}/form")
    assert "It has ended 1 application, last on" in text(page, "details")
    form = [
        field | {"knockout": field["knockout"] | {"keepForReview": True}}
        if "knockout" in field
        else field
        for field in FORM
    ]
    fields["form_version"] = await put_form(site, job, form)
    answer = await send(site, job, fields, GOOD_PDF)
    assert answer.status_code == 303, answer.text
    page = await look(site, f"/hiring/{job}/people/1")
    assert texts(page, ".answers .badge") == ["Review this answer"]


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"", "cv.pdf", "The file is empty."),
        (b"MZ", "cv.exe", "Choose a PDF or Word (.docx) file."),
        (GOOD_DOCX, "cv.pdf", "not a PDF"),
        (pdf_with(b"<</S/JavaScript/JS(x)>>"), "cv.pdf", "contains a script"),
        (b"%PDF-" + bytes(10_000_000), "cv.pdf", "larger than 10 MB"),
    ],
)
async def test_a_hostile_file_is_refused_beside_its_field(
    site: httpx2.AsyncClient, database: Database, content: bytes, name: str, words: str
) -> None:
    job = await make_job(site)
    version = await put_form(site, job, FORM[:1])
    answer = await send(site, job, {**ADA, "form_version": version}, content, name)
    assert answer.status_code == 400
    assert words in text(Html(answer.text), "#answer-cv-problem")
    assert await count(database, "uploaded_file") == 0
    upload = await site.post(
        f"/api/jobs/{job}/files",
        params={"field": "cv", "name": name},
        content=content,
        headers={"Content-Type": "application/octet-stream"},
    )
    assert status_and_code(upload) == (400, "VALIDATION_ERROR")
    assert words in upload.json()["error"]["message"]


async def test_a_form_that_changed_meanwhile_is_shown_again(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    version = await put_form(site, job, FORM[:1])
    await put_form(site, job, FORM[-1:])
    answer = await send(site, job, {**ADA, "form_version": version}, GOOD_PDF)
    assert answer.status_code == 409
    page = Html(answer.text)
    assert "The company has changed the questions." in text(page, "[role=alert]")
    assert attribute(page, "[name=name]", "value") == "Ada"
    body = {"name": "Ada", "email": "ada@example.org", "jobId": job, "answers": {"privacy": True}}
    answer = await site.post("/api/apply-public", json=body | {"formVersion": version})
    assert status_and_code(answer) == (409, "CONFLICT")
    assert (await site.post("/api/apply-public", json=body)).status_code == 201


async def test_the_api_takes_answers_and_keeps_its_contract_without_a_required_form(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, 9)
    assert (await site.get(f"/api/jobs/{job}/form")).json() == {"version": 0, "fields": []}
    await put_form(site, job, [{"type": "short_text", "label": "Why?"}])
    plain = await apply(site, job)
    assert set(plain) == {
        "applicationId",
        "applicantId",
        "jobId",
        "status",
        "queuePosition",
        "message",
    }
    assert status_and_code(
        await site.get(f"/api/applications/{plain['applicationId']}/answers")
    ) == (404, "NOT_FOUND")

    await put_form(
        site,
        job,
        [
            *FORM[:1],
            {"type": "number", "label": "Years", "required": True, "knockout": {"below": 1}},
        ],
    )
    async with site_with(database) as public:
        # Strangers do not learn which answer ends an application.
        assert "knockout" not in (await public.get(f"/openings/{job}")).text
        fields = (await public.get(f"/api/jobs/{job}/form")).json()["fields"]
        assert [field["knockout"] for field in fields] == [None, None]
        body: dict[str, Any] = {"name": "Bo", "email": "bo@example.org", "jobId": job}
        answer = await public.post("/api/apply-public", json=body)
        assert status_and_code(answer) == (400, "VALIDATION_ERROR")
        body["answers"] = {"years": "many", "other": 1}
        answer = await public.post("/api/apply-public", json=body)
        assert {item["field"] for item in answer.json()["error"]["details"]} == {
            "answers.years",
            "answers.other",
            "answers.cv",
        }
        upload = await public.post(
            f"/api/jobs/{job}/files",
            params={"field": "cv", "name": "cv.docx"},
            content=GOOD_DOCX,
            headers={"Content-Type": "application/octet-stream"},
        )
        assert upload.status_code == 201, upload.text
        # curl and browsers send other types; the name says what the file is.
        for type in ("application/pdf", "application/x-www-form-urlencoded"):
            large = await public.post(
                f"/api/jobs/{job}/files",
                params={"field": "cv", "name": "cv.pdf"},
                content=large_pdf(1_500_000),
                headers={"Content-Type": type},
            )
            assert large.status_code == 201, large.text
        # Nothing is received for an opening that takes no applications.
        await site.post(f"/api/jobs/{job}/pause")
        paused = await public.post(
            f"/api/jobs/{job}/files", params={"field": "cv", "name": "cv.pdf"}, content=GOOD_PDF
        )
        assert status_and_code(paused)[0] == 409
        stored = await count(database, "uploaded_file")
        who = {"name": "Cy", "email": "cy@example.org", "form_version": 2, "answer-years": "3"}
        assert (await send(public, job, who, GOOD_PDF)).status_code in (409, 410)
        assert await count(database, "uploaded_file") == stored
        await site.post(f"/api/jobs/{job}/resume")
        body["answers"] = {"years": 3, "cv": upload.json()["id"]}
        keyed = {"Idempotency-Key": "bo"}
        answer = await public.post("/api/apply-public", json=body, headers=keyed)
        assert answer.status_code == 201, answer.text
        # The client did not get the answer and sends the same request again.
        again = await public.post("/api/apply-public", json=body, headers=keyed)
        assert (again.status_code, again.json()) == (201, answer.json())
        # The file is taken, for other people.
        other = {**body, "email": "bea@example.org"}
        refused = await public.post("/api/apply-public", json=other)
        assert status_and_code(refused) == (400, "VALIDATION_ERROR")
        assert "Choose the file again" in refused.text
    shown = (await site.get(f"/api/applications/{answer.json()['applicationId']}/answers")).json()
    assert [item["value"] for item in shown["answers"]] == [None, 3]
    assert shown["answers"][0]["files"][0]["name"] == "cv.docx"
    # The company may add applicants without their answers.
    await apply(site, job, await make_person(site, "Cy"))


async def test_answers_and_files_survive_until_the_address_is_confirmed(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    version = await put_form(site, job, FORM)
    for mode in ("before", "within"):
        settings = SiteSettings(sends_mail=True, confirm_address=mode)
        async with site_with(database, site_settings=settings) as public:
            who = {"name": mode, "email": f"{mode}@example.org", "form_version": version}
            answer = await send(public, job, {**ANSWERS, **who}, GOOD_PDF)
            assert answer.status_code == 202, answer.text
    async with database.transaction() as tx:
        held = await fetch(
            tx, "SELECT apply_request_id IS NULL FROM hiring.uploaded_file ORDER BY uploaded_at"
        )
    assert held == [False, True]
    page = await look(site, f"/hiring/{job}/people/1")
    assert texts(page, ".answers dd")[2] == "Night"
    # The owner of the address sees what was placed in their name, and ends it if it was not them.
    async with database.transaction() as tx:
        signer = LinkSigner(await secrets.get_signing_key(tx))
    link = f"/confirm/{signer.sign_confirmation(ConfirmationToken('application', 1))}"
    page = await look(site, link)
    assert "Someone applied as within with your email address." in text(page)
    assert "Nothing happens" not in text(page)
    assert "The answers that were sent" in text(page)
    assert texts(page, ".answers dd")[2] == "Night"
    async with database.transaction() as tx:
        await tx.execute(
            "UPDATE hiring.application SET confirm_by = confirm_by - interval '9 days'"
        )
    over = await look(site, link)
    assert "has ended because the address was not confirmed in time." in text(over)
    async with database.transaction() as tx:
        await tx.execute(
            "UPDATE hiring.application SET confirm_by = confirm_by + interval '9 days'"
        )
    for _ in range(2):
        answer = await site.post(f"{link}/not-me", headers=HTML)
        assert (answer.status_code, answer.headers["location"]) == (303, link)
    page = await look(site, link)
    assert "This application has ended." in text(page)
    assert not page.css(".answers, form")
    log = text(await look(site, f"/hiring/{job}/people/1"))
    assert log.count("did not apply: someone else entered the address") == 1
    assert (await site.post(link, headers=HTML)).status_code == 410


async def test_the_form_is_edited_without_scripts(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    path = f"/hiring/{job}/form"
    assert path in (await site.get(f"/hiring/{job}", headers=HTML)).text
    page = await look(site, path)
    assert "No questions yet." in text(page)
    fields: dict[str, str] = {}
    for type in ("file", "choice", "consent"):
        page = Html((await site.post(path, data={**fields, "do": "add", "add": type})).text)
        fields = filled(page)
    assert texts(page, "legend")[:3] == ["1. Resume or other file", "2. One choice", "3. Consent"]
    assert "Complete all questions" in text(page, ".preview")
    fields |= {"label-1": "Shift", "choices-1": "Day\nNight", "ends-1": "Night", "help-2": "Data"}
    page = Html((await site.post(path, data={**fields, "do": "down-0"})).text)
    assert attribute(page, "[name=label-1]", "value") == "Resume"
    assert len(page.css(".preview [type=radio]")) == 2
    page = Html((await site.post(path, data={**filled(page), "do": "remove-2"})).text)
    fields = filled(page)
    refused = await site.post(path, data={**fields, "choices-0": "Day", "do": "save"})
    assert refused.status_code == 400
    assert "Question 1: enter at least two choices" in text(Html(refused.text), "[role=alert]")
    assert (await site.get(f"/api/jobs/{job}/form")).json()["version"] == 0
    # A double click saves the form once.
    for _ in range(2):
        assert (await site.post(path, data={**fields, "do": "save"})).status_code == 303
    stale = await site.post(path, data={**fields, "label-0": "Shifts", "do": "save"})
    assert (stale.status_code, "changed meanwhile" in stale.text) == (409, True)
    saved = (await site.get(f"/api/jobs/{job}/form")).json()
    assert saved["version"] == 1
    assert [field["key"] for field in saved["fields"]] == ["shift", "resume"]
    assert saved["fields"][0]["knockout"]["answers"] == ["Night"]
    page = await look(site, f"{path}?saved=true")
    assert "Form saved." in text(page, "[role=status]")
    assert await rows_of(page) == ["Shift", "Resume"]
    assert "Application form changed" in text(await look(site, f"/hiring/{job}"))


async def rows_of(page: Html) -> list[str]:
    return [node.attributes["value"] or "" for node in page.css("[name^=label-]")]


def filled(page: Html) -> dict[str, str]:
    """The fields of the editor, as a browser would send them."""
    fields: dict[str, str] = {}
    for node in page.css(".form-editor form :is(input, textarea, select)"):
        name, kind = node.attributes.get("name") or "", node.attributes.get("type")
        if kind == "checkbox" and "checked" not in node.attributes:
            continue
        value = node.attributes.get("value") if node.tag == "input" else node.text().strip("\n")
        if node.tag == "select":
            chosen = node.css_first("option[selected]")
            value = chosen.attributes.get("value") if chosen else ""
        fields[name] = value or ""
    return fields


async def test_a_file_of_ten_megabytes_is_never_in_memory(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    version = await put_form(site, job, FORM[:1])
    content = large_pdf(9_900_000)
    assert 9_800_000 < len(content) <= 10_000_000
    # The first upload loads modules and starts the children.
    await send(site, job, {"form_version": version}, GOOD_PDF)

    async def body() -> AsyncIterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="answer-cv"; filename="a.pdf"\r\n\r\n'
        for start in range(0, len(content), 65_536):
            yield content[start : start + 65_536]
        for name, value in {**ADA, "form_version": version}.items():
            yield f'\r\n--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode()
        yield b"\r\n--x--\r\n"

    tracemalloc.start()
    headers = {**HTML, "Content-Type": "multipart/form-data; boundary=x"}
    answer = await site.post(f"/openings/{job}", content=body(), headers=headers)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert answer.status_code == 303, answer.text
    assert peak < 5_000_000
    async with database.transaction() as tx:
        stored = await fetch(tx, "SELECT size FROM hiring.uploaded_file WHERE application_id = 1")
    assert stored == [len(content)]
