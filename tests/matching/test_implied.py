"""Skills imply others."""

from __future__ import annotations

from jobmill.matching.facts import implied, skills


def test_a_skill_implies_others_through_others() -> None:
    assert implied.implied(["Next.js"]) == {"React", "JavaScript"}
    assert implied.implied(["Amazon EKS"]) >= {"AWS", "Kubernetes", "Docker"}


def test_what_is_given_is_not_implied() -> None:
    assert implied.implied(["Django", "Python"]) == set()
    assert implied.implied(["Well digging"]) == set()


def test_nothing_implies_itself() -> None:
    for name in skills.names():
        assert name not in implied.implied([name])


def test_the_table_uses_the_names_that_we_know() -> None:
    for line in implied.TABLE.strip().splitlines():
        name, others = line.split(" > ")
        assert {name, *others.split(", ")} <= skills.names(), line
