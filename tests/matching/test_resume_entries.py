"""Jobs, schools, licences, languages and contact details: read from resumes, exported, merged."""

from __future__ import annotations

import io
import json
from typing import Any

import docx
import jsonschema_rs
import pypdf
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf.annotations import Link

from jobmill.demo import demo_profile
from jobmill.matching import profile_document, resumes
from jobmill.matching.master_resume import MasterResume
from jobmill.matching.profile import Profile
from jobmill.matching.resumes import entry_header, json_entries, merged_resume
from tests.matching import entry_score, helpers
from tests.matching.json_resume_schema import SCHEMA
from tests.matching.resumes import TODAY
from tests.matching.test_resume import LINKEDIN, linkedin_export


def read(data: str | bytes) -> MasterResume:
    text = data.encode() if isinstance(data, str) else data
    return resumes.read_resume(text, "x", today=TODAY).profile.resume


@pytest.mark.parametrize(("folder", "least"), [("tuned", 0.99), ("unseen", 0.95)])
def test_the_entries_of_resumes_of_many_professions_are_read(folder: str, least: float) -> None:
    score = entry_score.score_folder(folder)
    assert score.share() >= least, "\n".join(score.problems)
    assert not score.invented


@pytest.mark.parametrize("kind", ["text", "pdf", "docx"])
def test_entries_are_the_same_in_every_format(kind: str) -> None:
    text, _, _ = (entry_score.FOLDER / "tuned/retail.txt").read_text().partition("=====\n")
    text = text.replace("\u2013", "-").replace("\u00a3", "GBP ")
    data = {
        "text": text.encode(),
        "pdf": helpers.pdf([line.replace("\u2022", "-") for line in text.splitlines()]),
        "docx": helpers.word(text),
    }[kind]
    assert entry_score.rows_of(read(data)) == entry_score.rows_of(read(text))


def _add_link(paragraph: Paragraph, text: str, url: str) -> None:
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(url, RT.HYPERLINK, is_external=True))
    link.append(paragraph.add_run(text)._r)
    paragraph._p.append(link)


def test_a_link_behind_a_word_at_the_top_of_a_pdf_is_read() -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(helpers.pdf(helpers.TEXT.splitlines())))
    for height, url in ((700, "https://www.linkedin.com/in/dana"), (50, "https://low.example")):
        writer.add_annotation(0, Link(rect=(50, height, 90, height + 10), url=url))
    out = io.BytesIO()
    writer.write(out)
    assert [link.url for link in read(out.getvalue()).contact.links] == [
        "https://www.linkedin.com/in/dana"
    ]


def test_lists_links_and_tables_of_word_are_read() -> None:
    document = docx.Document()
    document.add_paragraph("Dana Pell")
    _add_link(document.add_paragraph("dana@example.net "), "Portfolio", "https://dana.example")
    for line in ("Work experience", "Cook, Hotel Linden, 2019 - 2021"):
        document.add_paragraph(line)
    document.add_paragraph("Ran the grill", style="List Bullet")
    row = document.add_table(rows=1, cols=2).rows[0].cells
    row[0].text, row[1].text = "2015 - 2018", "Baker\nGolden Crumb Bakery"
    out = io.BytesIO()
    document.save(out)
    resume = read(out.getvalue())
    assert [link.url for link in resume.contact.links] == ["https://dana.example"]
    cook, baker = resume.experience
    assert (cook.title, cook.highlights) == ("Cook", ("Ran the grill",))
    assert (baker.title, baker.employer) == ("Baker", "Golden Crumb Bakery")


@pytest.mark.parametrize(
    ("lines", "title", "employer", "location"),
    [
        (["Staff Engineer, Wells & Co, Boston, MA"], "Staff Engineer", "Wells & Co", "Boston, MA"),
        (["Acme, Inc. - Senior Cook"], "Senior Cook", "Acme, Inc.", None),
        (["Registered Nurse, ICU, Alder Hospital"], "Registered Nurse, ICU", "Alder Hospital", None),
        (["Cook at Hotel Bellevue, Annecy"], "Cook", "Hotel Bellevue", "Annecy"),
        (["Position: Clerk", "Employer: City of Cork"], "Clerk", "City of Cork", None),
        (["Science Teacher", "Cherry Hills School, Denver, CO"], "Science Teacher", "Cherry Hills School", "Denver, CO"),
        (["Analyst | Acme | Remote"], "Analyst", "Acme", "Remote"),
        (["Developer (Israel, Rehovot)"], "Developer", None, "Israel, Rehovot"),
        (["Charge Nurse", "Bayou Hospital Houston, TX"], "Charge Nurse", "Bayou Hospital", "Houston, TX"),
        (["Klarvik", "Data Engineer", "(3 years 2 months)"], "Data Engineer", "Klarvik", None),
        (["Architect | Developer"], "Architect", None, None),
    ],
)  # fmt: skip
def test_words_tell_title_employer_and_place_apart(
    lines: list[str], title: str, employer: str | None, location: str | None
) -> None:
    header = entry_header.read_header(lines)
    assert (header.title, header.employer, header.location) == (title, employer, location)


@pytest.mark.parametrize(
    ("dates", "end"),
    [
        ("08/2013 -\n03/2018", "2018-03"),
        ("Aug 2013 to\nMarch 2018", "2018-03"),
        ("2013 \u2013\npresent", "present"),
        ("2013 -\n- Ran the grill", "present"),
        ("2013 -\nRan the grill", "present"),
    ],
)
def test_dates_that_a_margin_cut_in_two_are_one_period(dates: str, end: str) -> None:
    (job,) = read(f"Experience\nCook, Hotel Linden, {dates}\n").experience
    assert (job.title, job.employer, job.end) == ("Cook", "Hotel Linden", end)


@pytest.mark.parametrize("month", ["200\u0660", "2021-13", "21", "March 2021", "2021-3"])
def test_a_month_has_one_spelling(month: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        MasterResume.model_validate({"experience": [{"title": "Cook", "start": month}]})


def test_nothing_is_guessed() -> None:
    assert read("Dana Pell\nI know Python.\nI have been cooking since 1999.") == MasterResume()
    # A period without a title, a degree without a school, and a licence without a name.
    vague = read("Experience\n2019 - 2021\n\nEducation\nBSc in Hydrology\n\nSkills\nPython")
    assert (vague.experience, vague.education) == ((), ())


def test_projects_are_read_with_their_texts() -> None:
    resume = read(
        "Projects\ntinyqueue \u2013 a job queue (github.com/dana/tinyqueue)\n- 1,200 stars\n"
        "Well map, 2019 - 2020\nShows every well.\n\nPump log\n- Used by two towns\n\nSkills\nPython"
    )
    assert [
        (project.name, project.url, project.start, project.summary, project.highlights)
        for project in resume.projects
    ] == [
        ("tinyqueue", "https://github.com/dana/tinyqueue", None, "a job queue", ("1,200 stars",)),
        ("Well map", None, "2019", "", ("Shows every well.",)),
        ("Pump log", None, None, "", ("Used by two towns",)),
    ]


def test_permission_to_work_and_links_are_taken_in_the_resumes_words() -> None:
    resume = read(
        "Dana Pell\ndana@example.net | www.dana.example | github.com/dana\n"
        "Work authorization: H-1B until 2027\nSkills\nPython"
    )
    assert resume.work_authorisation == ("H-1B until 2027",)
    assert [(link.label, link.url) for link in resume.contact.links] == [
        ("Website", "https://www.dana.example"),
        ("GitHub", "https://github.com/dana"),
    ]


def test_a_linkedin_export_has_entries() -> None:
    files = LINKEDIN | {
        "Education": "School Name,Start Date,End Date,Notes,Degree Name,Activities\r\n"
        "Boise State University,2012,2016,,BSN,\r\n",
        "Certifications": "Name,Url,Authority,Started On,Finished On,License Number\r\n"
        "RN,,Idaho Board of Nursing,Jun 2016,Jun 2027,N-1\r\n",
        "Email Addresses": "Email Address,Confirmed,Primary,Updated On\r\n"
        "old@example.net,Yes,No,\r\nmaria@example.net,Yes,Yes,\r\n",
    }
    resume = read(linkedin_export(**files))
    assert [(job.title, job.employer, job.start, job.end) for job in resume.experience] == [
        ("Charge Nurse", "Alder Valley Hospital", "2019-03", "present"),
        ("Registered Nurse", "Elm Clinic", "2016-01", "2019-03"),
    ]
    (school,) = resume.education
    assert (school.institution, school.degree, school.end) == ("Boise State University", "BSN", "2016")  # fmt: skip
    (licence,) = resume.licences
    assert (licence.issuer, licence.number, licence.expires) == ("Idaho Board of Nursing", "N-1", "2027-06")  # fmt: skip
    assert resume.contact.email == "maria@example.net"
    assert resume.languages[0].level == "Native or bilingual proficiency"


PRINTABLE = st.characters(exclude_categories=["Cc", "Cs", "Z"])
WORDS = st.text(PRINTABLE, min_size=1, max_size=8).map(lambda word: f"{word} {word}")
MONTH = st.one_of(st.none(), st.from_regex(r"\A20[01][0-9](-0[1-9])?\Z"))
END = st.one_of(st.none(), st.just("present"), st.from_regex(r"\A202[0-9](-1[0-2])?\Z"))
LINES = st.lists(WORDS, max_size=3)
URL = st.sampled_from(["https://dana.example", "http://a.example/b?c=1"])


def _entries(**fields: Any) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(st.fixed_dictionaries(fields), max_size=3)


MAYBE = st.one_of(st.none(), WORDS)
RESUME = st.fixed_dictionaries(
    {
        "headline": MAYBE,
        "contact": st.fixed_dictionaries(
            {"email": st.sampled_from([None, "dana@example.net"]), "phone": MAYBE, "address": MAYBE, "links": _entries(label=WORDS, url=URL)}
        ),
        "work_authorisation": LINES,
        "experience": _entries(title=WORDS, employer=MAYBE, location=MAYBE, start=MONTH, end=END, summary=WORDS, highlights=LINES, skills=LINES),
        "projects": _entries(name=WORDS, url=st.one_of(st.none(), URL), start=MONTH, end=END, summary=WORDS, highlights=LINES, skills=LINES),
        "education": _entries(institution=WORDS, degree=MAYBE, field=MAYBE, grade=MAYBE, start=MONTH, end=END, highlights=LINES),
        "licences": _entries(name=WORDS, issuer=MAYBE, number=MAYBE, issued=MONTH, expires=MONTH),
        "languages": _entries(name=WORDS, level=MAYBE),
    }
)  # fmt: skip
VALIDATOR = jsonschema_rs.Draft7Validator(SCHEMA)


@settings(max_examples=25, deadline=None)
@given(RESUME)
def test_an_exported_resume_is_read_again_with_the_same_entries(values: dict[str, Any]) -> None:
    resume = MasterResume.model_validate(values)
    document = json_entries.to_json_resume(Profile(resume=resume))
    VALIDATOR.validate(document)
    again = json_entries.read_master_resume(json.loads(json.dumps(document)))
    assert again == resume
    text = profile_document.to_yaml(Profile(resume=resume))
    assert profile_document.read_profile(text, "x").resume == resume


def test_the_demo_profile_is_a_valid_json_resume_that_is_read_again() -> None:
    document = json_entries.to_json_resume(demo_profile.ENGINEER)
    jsonschema_rs.Draft7Validator(SCHEMA, validate_formats=True).validate(document)
    again = resumes.read_resume(json.dumps(document).encode(), "x").profile
    assert again.resume == demo_profile.ENGINEER.resume
    assert again.person.name == demo_profile.ENGINEER.person.name


@pytest.mark.parametrize("odd", [None, 7, "x", [], [1], {"a": []}, [[{}]], "\x00\x1b[2J"])
def test_entries_of_another_shape_are_left_out(odd: object) -> None:
    document = json_entries.to_json_resume(demo_profile.ENGINEER)
    for section in ("basics", "work", "education", "certificates", "languages", "projects"):
        read = json_entries.read_master_resume(document | {section: odd})
        assert read == MasterResume.model_validate(read.model_dump())


OLD = MasterResume.model_validate(
    {
        "contact": {"email": "dana@example.net"},
        "experience": [
            {"title": "Cook", "employer": "Linden", "start": "2019", "end": "present", "skills": ["Grill"]},
            {"title": "Waiter", "employer": "Elm", "start": "2015", "end": "2018"},
        ],
    }
)  # fmt: skip
NEW = MasterResume.model_validate(
    {
        "contact": {"phone": "555 0100"},
        "experience": [
            {"title": "Head Chef", "employer": "Oak", "start": "2024", "end": "present"},
            {"title": "Cook", "employer": "Linden", "start": "2019-04", "end": "2023"},
        ],
        "languages": [{"name": "English"}],
    }
)


def test_a_file_is_merged_without_losing_entries() -> None:
    merged = merged_resume.merge_resumes(OLD, NEW, {})
    assert [(job.title, job.start, job.end) for job in merged.experience] == [
        ("Head Chef", "2024", "present"),
        ("Cook", "2019-04", "2023"),
        ("Waiter", "2015", "2018"),
    ]
    # What the file does not say stays.
    assert merged.experience[1].skills == ("Grill",)
    assert (merged.contact.email, merged.contact.phone) == ("dana@example.net", "555 0100")
    # Reading the same file again changes nothing.
    assert merged_resume.merge_resumes(merged, NEW, {}) == merged
    assert all(pair.is_same for pair in merged_resume.pair_entries(merged, NEW))


@pytest.mark.parametrize(
    ("choice", "titles"),
    [
        ("profile", ["Head Chef 2024", "Cook 2019", "Waiter 2015"]),
        ("both", ["Head Chef 2024", "Cook 2019", "Cook 2019-04", "Waiter 2015"]),
        ("none", ["Head Chef 2024", "Waiter 2015"]),
        ("nonsense", ["Head Chef 2024", "Cook 2019-04", "Waiter 2015"]),
    ],
)
def test_the_person_chooses_between_the_sides_of_a_pair(choice: str, titles: list[str]) -> None:
    merged = merged_resume.merge_resumes(OLD, NEW, {"experience.1": choice})
    assert [f"{job.title} {job.start}" for job in merged.experience] == titles
