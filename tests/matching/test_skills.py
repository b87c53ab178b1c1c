"""Skills are found as whole words, by any of their names."""

from __future__ import annotations

import pytest

from jobmill.matching.posting_facts import skills


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("JavaScript", ["JavaScript"]),
        ("Java", ["Java"]),
        ("Java, javascript", ["Java", "JavaScript"]),
        ("javas and javascripting", []),
        ("C++, C# and .NET", ["C++", "C#", ".NET"]),
        ("C++/C#/C", ["C++", "C#", "C"]),
        ("ASP.NET", [".NET"]),
        ("dana@example.net, wells.net", []),
        ("node.js; NodeJS", ["Node.js"]),
        ("Python.", ["Python"]),
        ("(Python)", ["Python"]),
        ("Java-based tools", ["Java"]),
        ("postgres and k8s on GCP", ["PostgreSQL", "Kubernetes", "Google Cloud"]),
        ("React Native", ["React Native"]),
        ("React, React-Native", ["React", "React Native"]),
        ("PL/SQL", ["PL/SQL"]),
        ("internal tools", []),
        ("the rest of the team", []),
        ("REST", ["REST"]),
        # "go" and similar names are everyday words.
        ("I go to work; ready to Go", []),
        ("go-to-market", []),
        ("Go-to-market with Python", ["Python"]),
        ("Python, Go, C and R", ["Python", "Go", "C", "R"]),
        ("five years of Go", ["Go"]),
        ("services written in Go.", ["Go"]),
        ("Go developer", ["Go"]),
        ("golang", ["Go"]),
        ("C-level talks on Java", ["Java"]),
        ("Vitamin C and Python", ["Python"]),
        ("graduated in Spring, 2015", []),
        ("Java, Spring, Hibernate", ["Java", "Spring Framework", "Hibernate"]),
        ("Rust - Swift - Kotlin", ["Rust", "Swift", "Kotlin"]),
        ("a swift reply, less rust, Python", ["Python"]),
        ("excel at SQL", ["SQL"]),
        ("Worked with Ada and Julia", []),
        ("draw using Sketch every day", ["Sketch"]),
        ("Advanced Excel for reports", ["Microsoft Excel"]),
        ("MS Office und Excel", ["Microsoft Office", "Microsoft Excel"]),
        ("Excel in a fast-paced team", []),
        ("Python, R&D", ["Python"]),
        ("Python, C och Go", ["Python", "C", "Go"]),
        ("machine-learning", ["Machine learning"]),
        ("Our stack is Go, Kafka and React", ["Go", "Kafka", "React"]),
        ("- Python\n- Go\n- Rust", ["Python", "Go", "Rust"]),
        ("Ready\nGo\nSteady", []),
    ],
)
def test_a_skill_is_found_by_its_names_and_only_by_them(text: str, names: list[str]) -> None:
    assert skills.skill_names(text) == names


def test_a_hit_says_where() -> None:
    text = "first\nwe use Python here"
    (hit,) = skills.find_skills(text)
    assert text[hit.start : hit.end] == "Python"


def test_every_skill_is_found_by_each_of_its_spellings() -> None:
    for spelling in skills.all_spellings():
        assert skills.canonical_name(spelling.text) == spelling.name
        # Everyday words count only next to another skill.
        assert spelling.name in skills.skill_names(f"{spelling.text}, Python"), spelling.text


def test_no_spelling_means_two_skills() -> None:
    texts = [spelling.text.casefold() for spelling in skills.all_spellings()]
    assert len(texts) == len(set(texts))
    assert len({spelling.name for spelling in skills.all_spellings()}) > 250


def test_an_unknown_skill_keeps_its_name() -> None:
    assert skills.canonical_name("Well digging") == "Well digging"
    assert skills.canonical_name(" golang ") == "Go"
