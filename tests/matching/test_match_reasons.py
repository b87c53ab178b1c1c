"""The best reason for a match and the strongest one against it."""

from __future__ import annotations

import pytest

from jobmill.matching.match_reasons import find_reasons
from jobmill.matching.verdict import ScoreItem

SKILLS = ScoreItem("skills", 35, 43, "4 of 5 requested skills: Go, SQL; missing: Rust")
TITLE = ScoreItem("title", 14, 14, "Similar to Backend Engineer")
PAY = ScoreItem("salary", 4, 5, "Pay not stated", state="unknown")
ANY_SIZE = ScoreItem("size", 10, 10, "The profile accepts any company size", state="open")
NEAR = ScoreItem("meaning", 54, 60, "Text similarity: 90%")
ZONE = ScoreItem("timezone", -15, 5, "The team's time zone is 9 hours from Europe/Lisbon")
ABROAD = ScoreItem("arrangement", 0, 5, "Remote, but in another country", state="excluded")


@pytest.mark.parametrize(
    ("items", "best", "worst"),
    [
        ((SKILLS, TITLE), "4 of 5 requested skills: Go, SQL", "Missing skills: Rust"),
        ((TITLE, PAY), "Title: Similar to Backend Engineer", "Pay not stated"),
        ((SKILLS, ZONE), "4 of 5 requested skills: Go, SQL", ZONE.why),
        ((SKILLS, ZONE, ABROAD), "4 of 5 requested skills: Go, SQL", ABROAD.why),
        ((TITLE, ANY_SIZE), "Title: Similar to Backend Engineer", None),
        ((ANY_SIZE,), None, None),
        ((TITLE, NEAR), "Title: Similar to Backend Engineer", "Text similarity: 90%"),
        ((NEAR,), None, "Text similarity: 90%"),
    ],
)  # fmt: skip
def test_the_strongest_reasons_are_chosen(
    items: tuple[ScoreItem, ...], best: str | None, worst: str | None
) -> None:
    reasons = find_reasons(items, ["Rust"])
    assert (reasons.reason_for, reasons.reason_against) == (best, worst)


def test_half_a_skill_match_is_not_the_best_reason_beside_a_full_title() -> None:
    half = ScoreItem("skills", 22, 43, "2 of 5 requested skills")
    assert find_reasons((half, TITLE), ()).reason_for == "Title: Similar to Backend Engineer"


def test_everything_missing_from_100_points_is_listed_the_largest_loss_first() -> None:
    reasons = find_reasons((SKILLS, TITLE, PAY, ZONE, ABROAD), ["Rust"])
    assert [(loss["name"], loss["points"]) for loss in reasons.to_dict()["missing_points"]] == [
        ("timezone", 20),
        ("skills", 8),
        ("arrangement", 5),
        ("salary", 1),
    ]
    assert reasons.dealbreakers == (ABROAD.why,)


def test_a_model_gives_its_quotes_as_reasons() -> None:
    words = ("for: 5 years of Python", "against: on call every week")
    model = ScoreItem("model", 60, 85, "m rated the fit 70 of 100", words)
    reasons = find_reasons((model,), ())
    assert reasons.reason_for == "Model review: “5 years of Python”"
    assert reasons.reason_against == "Model review: “on call every week”"


def test_many_missing_skills_are_shortened() -> None:
    reasons = find_reasons((SKILLS,), list("ABCDEFG"))
    assert reasons.reason_against == "Missing skills: A, B, C, D, E and 2 more"
