"""Reading resumes, and refusing files that cannot be read."""

from __future__ import annotations

import datetime as dt
import io
import json
import random
import zipfile
from collections.abc import Callable

import pytest

from jobmill.errors import Invalid
from jobmill.matching import profile_document
from jobmill.matching import resumes as resume
from jobmill.matching.profile import Profile
from jobmill.matching.resumes import person_name, sections, work_history
from tests.matching import helpers, resumes


def skills_of(profile: Profile) -> dict[str, float | None]:
    return {skill.name: skill.years for skill in profile.skills}


@pytest.mark.parametrize(
    ("format", "data"),
    [
        ("text", helpers.TEXT.encode()),
        ("text", helpers.TEXT.replace("\n", "\r\n").encode("utf-16")),
        ("docx", helpers.word()),
        ("pdf", helpers.pdf(helpers.TEXT.splitlines())),
    ],
)
def test_a_resume_is_read_the_same_in_every_format(format: str, data: bytes) -> None:
    draft = resume.read_resume(data, "x")
    assert draft.format == format
    read = draft.profile
    assert read.summary == "Backend engineer with 12+ years of experience building water systems."
    assert read.experience_years == 12
    assert read.person.name == "Dana Pell"
    # The headline and the latest title.
    assert read.seniority == ("senior", "staff")
    assert skills_of(read) == {
        "Python": 8,
        "Go": None,
        "C++": None,
        "PostgreSQL": None,
        "Kubernetes": None,
        "Terraform": 3,
        "JavaScript": None,
    }
    assert read.titles == ("Senior Software Engineer", "Staff Engineer", "Software Developer")
    assert read.highlights == (
        "Cut pump downtime by 40% with a new scheduler",
        "Led 3 years of Terraform work",
        "Wrote the JavaScript front end",
    )
    assert read.projects == ("tinypump: a simulator",)
    assert read.achievements == ("Best Pump 2020",)
    assert profile_document.read_profile(profile_document.to_yaml(read), "again") == read


def test_columns_that_a_pdf_draws_line_by_line_are_read_one_after_the_other() -> None:
    rows = [
        ("Dana Pell", "Work Experience"),
        ("dana@example.org", "Registered Nurse, Alder Valley Hospital"),
        ("", "Mar 2021 - Present"),
        ("Skills", "- Trained 12 new nurses"),
        ("Python", "Nursing Assistant, Cedar Clinic"),
        ("Terraform", "2018 - Feb 2021"),
        ("", "- Washed 20 patients a day"),
    ]
    shown = (
        f"1 0 0 1 {x} {780 - 14 * number} Tm ({words}) Tj"
        for number, row in enumerate(rows)
        for x, words in zip((50, 220), row, strict=True)
    )
    data = helpers.pdf_of(f"BT /F1 11 Tf {' '.join(shown)} ET".encode())
    read = resume.read_resume(data, "x", today=dt.date(2026, 11, 17)).profile
    assert read.person.name == "Dana Pell"
    assert list(skills_of(read)) == ["Python", "Terraform"]
    assert read.titles == ("Registered Nurse", "Nursing Assistant")
    assert read.highlights == ("Trained 12 new nurses", "Washed 20 patients a day")


def test_json_resume_is_read_by_its_fields() -> None:
    draft = resume.read_resume(helpers.json_resume(), "x")
    read = draft.profile
    assert draft.format == "json-resume"
    assert (read.person.name, read.person.home_city) == ("Dana Pell", "Porto, PT-13")
    assert read.titles == ("Staff Engineer", "Senior Engineer")
    assert skills_of(read) == {
        "Go": None,
        "PostgreSQL": None,
        "Well digging": None,
        "Python": None,
        "Rust": 5,
    }
    assert read.projects == ("tinypump: a simulator",)
    assert read.achievements == ("Best Pump",)


@pytest.mark.parametrize("odd", [None, 7, "x", [], [1], {"a": []}, [[{}]], "\x00\x1b[2J"])
@pytest.mark.parametrize("field", ["basics", "work", "skills", "projects", "awards", "volunteer"])
def test_a_field_of_json_resume_in_another_shape_costs_that_field(field: str, odd: object) -> None:
    read = resume.read_resume(helpers.json_resume(**{field: odd}), "x").profile
    assert profile_document.read_profile(profile_document.to_yaml(read), "again") == read
    if field != "skills":
        assert "Well digging" in skills_of(read)


def test_what_a_resume_does_not_say_is_not_guessed() -> None:
    draft = resume.read_resume(b"Dana Pell\nI know Python.\nI have been cooking since 1999.", "x")
    assert draft.profile == Profile.model_validate(
        {"person": {"name": "Dana Pell"}, "skills": ["Python"]}
    )
    assert {"titles", "experience_years", "seniority"} <= set(draft.missing)
    # Neither ranks nor locations are guessed.
    assert draft.profile.model_fields_set == {"person", "skills"}
    assert draft.profile.person.model_fields_set == {"name"}


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("8 years of Python", 8),
        ("8+ years Python", 8),
        ("2.5 yrs of Python", 2.5),
        ("10 years of professional experience with Python", 10),
        ("Python (8 years)", 8),
        ("Python: 8+ years", 8),
        ("Python - 8 yrs", 8),
        ("Python, 8 years\nJava", 8),
        ("Python for 8 years", 8),
        ("Python since 2016", None),
        ("99 years of Python", None),
        ("8 years at Wells & Co. Python", None),
        ("8 years of Java, and Python", None),
        ("Python, 8 years of Java", None),
        ("Python. In 8 years I learned much", None),
    ],
)
def test_years_count_only_where_they_stand_beside_the_skill(text: str, years: float | None) -> None:
    assert skills_of(resume.read_resume(text.encode(), "x").profile)["Python"] == years


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("12 years of experience.", 12),
        ("over 12 years' professional experience", 12),
        ("12 years of experience with Python", None),
        ("12 years ago", None),
        ("99 years of experience", None),
    ],
)
def test_the_years_of_a_career_are_those_stated(text: str, years: float | None) -> None:
    assert resume.read_resume(f"{text}\nPython".encode(), "x").profile.experience_years == years


@pytest.mark.parametrize("layout", resumes.ALL)
def test_name_years_and_seniority_are_read_where_the_text_says_them(layout: str) -> None:
    case = resumes.ALL[layout]
    draft = resume.read_resume(case.text.encode(), "x", today=resumes.TODAY)
    read = draft.profile
    assert (read.person.name, read.experience_years, read.seniority) == case[1:]
    unsaid = {"person.name": case.name, "experience_years": case.years, "seniority": case.seniority}
    assert set(draft.missing) & unsaid.keys() == {name for name, item in unsaid.items() if not item}
    assert profile_document.read_profile(profile_document.to_yaml(read), "again") == read


@pytest.mark.parametrize(
    ("lines", "years"),
    [
        (["Cook, 2016 - 2019"], 3),
        (["Cook, 2016 - 2019", "Baker, 2017 - 2018"], 3),
        (["Cook, 2010 - 2012", "Baker, 2015 - 2016"], 3),
        (["Cook, 03/2018 \u2013 heute"], 8.5),
        (["Cook, Sept. 2025 until now"], 1),
        (["Cook, f\u00e9vr. 2020 \u00e0 janv. 2022"], 2),
        (["2024: Cook"], None),
        (["EDUCATION 2017 - 2019 | Harbour College"], None),
        (["Bachelor of Arts, 2017 - 2019"], None),
        (["Degree Coordinator, 2017 - 2019"], 2),
        (["Cook, 2019 - 2016"], None),
        (["Cook, 2030 - 2040"], None),
        (["Cook, 2025 - 2040"], 1),
        (["Cook, 1802 - 1990", "Room 2016-7 - 12"], None),
        (["A leader in pumps since 1975"], None),
        (["- Sold 2001-2003 vintages"], None),
    ],
)
def test_every_month_of_employment_counts_once(lines: list[str], years: float | None) -> None:
    assert work_history.total_years(work_history.find_employments(lines, resumes.TODAY)) == years


@pytest.mark.parametrize(
    ("top", "name"),
    [
        ("Dr. Anna-Lena M\u00fcller", "Anna-Lena M\u00fcller"),
        ("ANNA M\u00dcLLER", "Anna M\u00fcller"),
        ("CV\nName   Peter Parker", "Peter Parker"),
        ("LI WEI", "Li Wei"),
        ("Full name: Jo de la Cruz", "Jo de la Cruz"),
        ("Ruby Chen\nruby@example.net", "Ruby Chen"),
        ("Blue Harbour\nSam Okafor\nokafor@example.net", "Sam Okafor"),
        ("Machine Learning", None),
        ("San Francisco", None),
        ("Mill Hollow, Oregon", None),
        ("+1 555 0134 | Mill Hollow | 1987", None),
        ("pell@example.net | Dana Pell", "Dana Pell"),
        ("United Kingdom", None),
        ("Acme Software Ltd", None),
        ("Senior Water Engineer", None),
        ("Main Street 5", None),
        ("dana pell", None),
        ("Skills\nDana Pell", None),
        ("I Am Called Dana Pell By Friends", None),
        ("<script>alert(1)</script> Pell", None),
    ],
)
def test_only_what_is_surely_a_name_is_taken_for_one(top: str, name: str | None) -> None:
    assert person_name.find_name(top) == name


LOREM = "Lorem Ipsum\n\n" + "Lorem ipsum dolor sit amet, consectetur adipiscing elit.\n" * 40


@pytest.mark.parametrize("text", ["asdf", "asdf asdf\nqwer", "12 years ago", LOREM, "Dana Pell"])
def test_a_text_in_which_nothing_is_found_is_not_understood(text: str) -> None:
    with pytest.raises(Invalid, match=r"^Nothing was found in x: .* by hand\.$"):
        resume.read_resume(text.encode(), "x")


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("SKILLS & TOOLS", "skills"),
        ("Education and Certifications", "education"),
        ("Achievements / Awards", "achievements"),
        ("Berufserfahrung und Projekte:", "work"),
        ("E X P E R I E N C E", "work"),
        ("Training and Development Manager", None),
        ("Education and Outreach Manager", None),
        ("Profile and Data Analyst", None),
        ("Career, Google", None),
        ("Languages, Berlin", None),
    ],
)
def test_a_title_is_no_heading(line: str, part: str | None) -> None:
    assert sections.section_of_heading(line) == part


def test_json_without_anything_in_it_is_no_resume() -> None:
    with pytest.raises(Invalid, match="Nothing was found"):
        resume.read_resume(b'{"basics": {}}', "resume.json")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "part",
    ["2019 - ", "Jan ", "01.02.", "12 years of total ", "A ", "a.", "(", "_ ", "Dr. ", "since 2019 ",
     "van der ", "'", "a@", "Name: ", "- 1) "],
)  # fmt: skip
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_hostile_text_is_read_or_refused_quickly(part: str, end: str) -> None:
    text = "Experience\n" + ((part * 40 + end) * 90_000)[:90_000]
    # A text with a skill is never empty.
    read = resume.read_resume(f"Python\n{text}".encode(), "x").profile
    assert (read.person.name, len(read.titles)) == (None, 0)


def test_json_resume_counts_its_dates() -> None:
    work = [
        {"position": "Senior Cook", "startDate": "2021-01-01"},
        {"position": "Cook", "startDate": "2016-07-01", "endDate": "2020-12-31"},
        {"position": "Cook", "startDate": "nonsense"},
        {"position": "Cook", "startDate": "1990-01-01", "endDate": 7},
    ]
    document = helpers.json_resume(work=work, basics={})
    read = resume.read_resume(document, "x", today=resumes.TODAY).profile
    assert (read.experience_years, read.seniority) == (10, ("senior",))


def test_a_wrapped_bullet_point_is_joined() -> None:
    text = b"Experience\n- Cut downtime\nby half\n\nWells & Co\n- Led a team"
    assert resume.read_resume(text, "x").profile.highlights == (
        "Cut downtime by half",
        "Led a team",
    )


def test_the_tables_of_a_docx_are_read() -> None:
    read = resume.read_resume(
        helpers.word("Skills", table=["Python (4 years)", "Rust"]), "x"
    ).profile
    assert skills_of(read) == {"Python": 4, "Rust": None}


BOMB = b"<w:document>" + b"0" * 70_000_000
DOCUMENT = "word/document.xml"
ENTITIES = (
    b'<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%b">' % (n + 1, b"&%c;" % n * 10) for n in b"abcdefghi")
    + b"]><d>&j;</d>"
)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (helpers.encrypted_pdf, "encrypted"),
        (lambda: b"%PDF-1.7 and then nothing", "damaged PDF"),
        (lambda: helpers.pdf(["x"])[:200], "damaged PDF"),
        (lambda: helpers.pdf([]), "contains no text"),
        (lambda: helpers.pdf(["x"], pages=61), "more than 60 pages"),
        (lambda: helpers.pdf_of(b"BT /F1 1 Tf (x) Tj ET " * 100_000), "too large for a resume"),
        (lambda: helpers.pdf_of(b"q Q " * 20_000_000), "too large for a resume"),
        (lambda: resume.OLE + b"\x00" * 100, "encrypted or in an old Word format"),
        (lambda: b"PK\x03\x04 and then nothing", "damaged DOCX"),
        (lambda: helpers.word()[:-100], "damaged DOCX"),
        (lambda: helpers.word_with(DOCUMENT, BOMB), "too large when unpacked"),
        (lambda: helpers.word_with(DOCUMENT, ENTITIES), "damaged DOCX"),
        (lambda: helpers.word_with(DOCUMENT, b"<d>" * 10_000), "damaged DOCX"),
        (lambda: helpers.word_with("[Content_Types].xml", b"<x/>"), "damaged DOCX"),
        (lambda: helpers.word("x" * 400_000), "more than 300,000 characters"),
        (lambda: b"\x7fELF\x00\x00", "not a PDF, DOCX"),
        (lambda: b" \n", "contains no text"),
        (lambda: b"x" * 300_001, "more than 300,000 characters"),
        (lambda: b"x" * 10_000_001, "larger than 10 MB"),
    ],
)
def test_unreadable_files_are_refused_with_advice(make: Callable[[], bytes], words: str) -> None:
    with pytest.raises(Invalid) as caught:
        resume.read_resume(make(), "resume")
    assert words in str(caught.value)
    assert str(caught.value).startswith("resume ")


@pytest.mark.parametrize(
    "file_bytes", [helpers.pdf(helpers.TEXT.splitlines()), helpers.word(), helpers.json_resume()]
)
def test_a_file_with_flipped_bytes_is_read_or_refused(file_bytes: bytes) -> None:
    chance = random.Random(4)
    ends = {"read": 0, "refused": 0}
    for _ in range(150):
        data = bytearray(file_bytes)
        for _ in range(chance.randint(1, 20)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            resume.read_resume(bytes(data), "x")
            ends["read"] += 1
        except Invalid:
            ends["refused"] += 1
    assert ends["read"]


def test_a_json_profile_is_no_resume() -> None:
    assert resume.detect_format(json.dumps({"skills": ["Python"]}).encode()) is None
    assert resume.detect_format(b"[" * 100_000) is None
    assert resume.detect_format(helpers.json_resume()) == "json-resume"


def linkedin_export(folder: str = "", **files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(f"{folder}{name}.csv", text)
    return packed.getvalue()


LINKEDIN = {
    "Profile": "First Name,Last Name,Headline,Summary,Geo Location\r\n"
    'Maria,Santos,Registered Nurse,"Intensive care, eight years","Boise, Idaho"\r\n',
    "Positions": "Company Name,Title,Description,Location,Started On,Finished On\r\n"
    "Alder Valley Hospital,Charge Nurse,Led a unit,Boise,Mar 2019,\r\n"
    "Elm Clinic,Registered Nurse,,Boise,Jan 2016,Mar 2019\r\n",
    "Skills": "Name\r\nWound care\r\nIV therapy\r\n",
    "Languages": "Name,Proficiency\r\nSpanish,Native or bilingual proficiency\r\n",
    "messages": "x" * 100,
}


@pytest.mark.parametrize("folder", ["", "Basic_LinkedInDataExport/"])
def test_a_linkedin_export_is_read(folder: str) -> None:
    draft = resume.read_resume(
        linkedin_export(folder, **LINKEDIN), "export.zip", today=dt.date(2026, 11, 1)
    )
    profile = draft.profile
    assert draft.format == "linkedin"
    assert profile.person.name == "Maria Santos"
    assert (profile.person.home_city, profile.person.timezone) == ("Boise, Idaho", "America/Denver")
    assert profile.titles == ("Registered Nurse", "Charge Nurse")
    assert {"Wound care", "IV therapy"} <= {skill.name for skill in profile.skills}
    assert profile.languages == ("Spanish",)
    assert profile.experience_years
    assert "arrangements" not in profile.model_fields_set


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"Profile": "0" * 2_000_001}, "too large when unpacked"),
        ({"Profile": 'First Name\r\n"' + "x" * 200_000 + '"'}, "damaged CSV file"),
        ({f"{n}": "" for n in range(2_001)} | {"Profile": "First Name"}, "too many files"),
        ({"Profile": "First Name\r\n"}, "Nothing was found"),
    ],
)
def test_hostile_linkedin_exports_are_refused(files: dict[str, str], reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        resume.read_resume(linkedin_export(**files), "export.zip")


def test_spoken_languages_are_read_and_programming_languages_are_not() -> None:
    text = f"{helpers.TEXT}\n\nLanguages\nEnglish (native), Spanish: B2, Python\n"
    assert resume.read_resume(text.encode(), "cv.txt").profile.languages == ("English", "Spanish")
