"""A posting's skills, and how much it wants each."""

from __future__ import annotations

import pytest

from jobmill.matching.posting_facts import required_skills, sections

TEXT = """\
About Brine
We pump water with COBOL.

What you'll do
- Build services in Go and PostgreSQL

Requirements
- Python and SQL
- Terraform, preferably with AWS
- Kafka is a plus
- Docker required, Ansible a plus

Nice to have:
- Rust, Python

Benefits
Jira-free Fridays
"""


def read(text: str, title: str = "", requirements: str = "") -> dict[str, str]:
    found = required_skills.read_skills(title, text, sections.find_sections(text), requirements)
    return {one.name: one.importance for one in found}


def test_headings_say_how_much_a_skill_is_wanted() -> None:
    assert read(TEXT) == {
        "COBOL": "mentioned",
        "Go": "mentioned",
        "PostgreSQL": "mentioned",
        "Python": "required",
        "SQL": "required",
        "Terraform": "required",
        "AWS": "preferred",
        "Kafka": "preferred",
        "Docker": "required",
        "Ansible": "preferred",
        "Rust": "preferred",
        "Jira": "mentioned",
    }


@pytest.mark.parametrize(
    ("text", "importance"),
    [
        ("You have strong experience with Python.", "required"),
        ("Python is required.", "required"),
        ("Must know Python", "required"),
        ("Our team uses Python.", "mentioned"),
        ("Python is a big plus.", "preferred"),
        ("Python, plus SQL.", "mentioned"),
        ("Bonus points for Python", "preferred"),
        ("Ideally you have experience with Python.", "preferred"),
        ("Experience with Python preferred.", "preferred"),
        ("Experience with Python. Java is a plus.", "required"),
        ("Kenntnisse in Python erforderlich", "required"),
        ("Python von Vorteil", "preferred"),
        ("La maîtrise de Python serait un plus", "preferred"),
        ("Dein Profil\n- Python", "required"),
        ("Requisitos\n- Python", "required"),
        ("Preferred qualifications\n- Python", "preferred"),
        ("What would set you apart\n- Python", "preferred"),
        ("Requirements gathering\n- Python", "mentioned"),
        ("Must have: Python", "required"),
        ("Our team uses Python.\nRequirements\n- Python", "required"),
        ("Requirements\n- Pumps\nWhat we offer\n- Python", "mentioned"),
    ],
)
def test_words_say_how_much_a_skill_is_wanted(text: str, importance: str) -> None:
    assert read(text)["Python"] == importance


def test_the_title_asks() -> None:
    assert read("We use Python.", title="Python Developer") == {"Python": "required"}


def test_what_the_posting_gives_as_its_requirements_is_required() -> None:
    assert read("Intro\nPython, SQL\nOutro", requirements="Python, SQL")["SQL"] == "required"


def test_a_tag_mentions() -> None:
    found = required_skills.read_skills(
        "", "", sections.find_sections(""), tags=("golang", "Go", "react developer", "wells")
    )
    assert [(one.name, one.importance) for one in found] == [
        ("Go", "mentioned"),
        ("React", "mentioned"),
    ]


def test_the_words_are_the_line_cut_short() -> None:
    (one,) = required_skills.read_skills(
        "", f"x\n- {'word ' * 60}Python", sections.find_sections("")
    )
    assert one.words.endswith("word Python")
    assert one.words.startswith("\u2026")
    assert len(one.words) < 170


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("No PHP here, just Python.", ["Python"]),
        ("You know Python, but we don't require Django", ["Python"]),
        ("Python instead of Java", ["Python"]),
        ("Python (no Java!)", ["Python"]),
        ("With or without Kubernetes", ["Kubernetes"]),
        ("Not only Python but Django", ["Python", "Django"]),
    ],
)
def test_what_they_do_without_is_not_asked_for(text: str, names: list[str]) -> None:
    assert list(read(text)) == names
