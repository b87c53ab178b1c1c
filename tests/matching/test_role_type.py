"""Management roles are told apart from individual contributors."""

from __future__ import annotations

import pytest

from jobmill.matching.posting_facts import role_type


@pytest.mark.parametrize(
    ("title", "role"),
    [
        ("Engineering Manager", "management"),
        ("Senior Manager, Software Engineering", "management"),
        ("Manager, Data Science", "management"),
        ("Head of Platform", "management"),
        ("Director of Engineering", "management"),
        ("VP, Product", "management"),
        ("Chief Technology Officer", "management"),
        ("Store Manager", "management"),
        ("Shift Supervisor", "management"),
        ("Team Lead", "management"),
        ("Teamleiter Vertrieb (m/w/d)", "management"),
        ("Product Manager", "ic"),
        ("Senior Technical Program Manager", "ic"),
        ("Account Manager", "ic"),
        ("Project Manager", "ic"),
        ("Customer Success Manager, EMEA", "ic"),
        ("Account Director", None),
        ("Executive Assistant to the VP", "ic"),
        ("Chief of Staff", "ic"),
        ("Senior Software Engineer", "ic"),
        ("Staff Engineer, Engineering Management Tools", "ic"),
        ("Lead Data Engineer", "ic"),
        ("Account Executive", "ic"),
        ("Regulatory Compliance Manager", None),
        ("Marketing Manager", None),
        ("Office Manager", None),
        ("Plumbing", None),
    ],
)
def test_a_title_tells_the_role(title: str, role: str | None) -> None:
    assert role_type.read_role(title, "")[0] == role


@pytest.mark.parametrize(
    ("title", "text", "role"),
    [
        ("Lead Engineer", "You will have 5 direct reports.", "management"),
        ("Regulatory Compliance Manager", "You manage a team of six.", "management"),
        ("Product Manager", "with line management of two people", "management"),
        ("Lead Engineer", "an individual contributor with no direct reports", "ic"),
        # Another person leads the team there.
        ("Software Engineer", "Our leads do people management and manage a team of six.", "ic"),
        ("Compliance Owner", "This is an individual contributor role.", "ic"),
        ("Engineering Manager", "not an individual contributor", "management"),
    ],
)
def test_the_text_tells_where_the_title_leaves_it_open(title: str, text: str, role: str) -> None:
    assert role_type.read_role(title, text)[0] == role


def test_the_words_are_those_that_show_it() -> None:
    assert role_type.read_role("Head of Wells", "") == ("management", "Head of Wells")
    assert role_type.read_role("Lead Engineer", "Pumps.\nYou have direct reports.\n") == (
        "management",
        "You have direct reports.",
    )
