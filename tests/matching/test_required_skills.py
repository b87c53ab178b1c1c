"""Skills of a posting and their importance."""

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
    posting_skills = required_skills.read_skills(
        title, text, sections.find_sections(text), requirements
    )
    return {skill.name: skill.importance for skill in posting_skills}


def test_headings_decide_the_importance_of_a_skill() -> None:
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
def test_words_decide_the_importance_of_a_skill(text: str, importance: str) -> None:
    assert read(text)["Python"] == importance


def test_skills_in_the_title_are_required() -> None:
    assert read("We use Python.", title="Python Developer") == {"Python": "required"}


def test_skills_in_the_requirements_field_are_required() -> None:
    assert read("Intro\nPython, SQL\nOutro", requirements="Python, SQL")["SQL"] == "required"


def test_skills_in_tags_are_mentioned() -> None:
    posting_skills = required_skills.read_skills(
        "", "", sections.find_sections(""), tags=("golang", "Go", "react developer", "wells")
    )
    assert [(skill.name, skill.importance) for skill in posting_skills] == [
        ("Go", "mentioned"),
        ("React", "mentioned"),
    ]


def test_the_quote_is_the_shortened_line() -> None:
    (skill,) = required_skills.read_skills(
        "", f"x\n- {'word ' * 60}Python", sections.find_sections("")
    )
    assert skill.words.endswith("word Python")
    assert skill.words.startswith("\u2026")
    assert len(skill.words) < 170


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
def test_skills_that_are_not_needed_are_left_out(text: str, names: list[str]) -> None:
    assert list(read(text)) == names
