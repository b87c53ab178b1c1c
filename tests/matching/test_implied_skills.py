"""Skills that imply others."""

from __future__ import annotations

from jobmill.matching.posting_facts import implied_skills, skills


def test_a_skill_implies_others_through_others() -> None:
    assert implied_skills.implied_skills(["Next.js"]) == {"React", "JavaScript"}
    assert implied_skills.implied_skills(["Amazon EKS"]) >= {"AWS", "Kubernetes", "Docker"}


def test_what_is_given_is_not_implied() -> None:
    assert implied_skills.implied_skills(["Django", "Python"]) == set()
    assert implied_skills.implied_skills(["Well digging"]) == set()


def test_nothing_implies_itself() -> None:
    for name in skills.all_names():
        assert name not in implied_skills.implied_skills([name])


def test_the_table_uses_the_names_that_we_know() -> None:
    for name, implied in implied_skills.read_table().items():
        assert {name, *implied} <= skills.all_names(), name
