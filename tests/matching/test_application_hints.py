"""Suggestions for a resume state only what the profile contains."""

from __future__ import annotations

from jobmill.matching.rules import application_hints
from tests.matching.cases import asked, facts, posting, profile

DANA = {
    "summary": "Backend engineer who keeps water running. Wrote pump schedulers in Python. Paints boats.",
    "skills": [
        {"name": "Python", "rank": "primary"},
        {"name": "Postgres", "rank": "strong"},
        {"name": "Well digging", "rank": "strong"},
        {"name": "Docker", "rank": "familiar"},
    ],
    "highlights": [
        "Sang in the choir",
        "Cut pump downtime by 40%",
        "Moved billing from MySQL to PostgreSQL",
    ],
    "projects": ["boats: a calendar", "tinypump: a simulator of pumps in Python"],
    "achievements": ["Best Choir 2019", "Best Pump 2020"],
}
OFFER = posting(
    "Senior Python Engineer",
    description="You keep every pump running.\nYou know postgres and Kubernetes.\nPython 3 daily.",
)
SAID = facts("Python", "PostgreSQL", "Kubernetes")


def test_skills_that_are_asked_for_come_first_and_none_is_added() -> None:
    intake = application_hints.suggest_resume_content(profile(**DANA), OFFER, SAID)
    assert intake.prioritized_skills == ("Python", "Postgres", "Well digging", "Docker")
    docker = application_hints.suggest_resume_content(
        profile(**DANA), OFFER, facts("Docker", asked("Python", "mentioned"))
    )
    assert docker.prioritized_skills[0] == "Python"  # The title names this skill.
    assert docker.prioritized_skills[1] == "Docker"


def test_a_skill_that_implies_what_is_asked_for_comes_first_too() -> None:
    intake = application_hints.suggest_resume_content(
        profile(skills=["Haskell", "Django"]), OFFER, SAID
    )
    assert intake.prioritized_skills == ("Django", "Haskell")


def test_lines_are_the_profiles_own_ordered_by_what_they_share_with_the_listing() -> None:
    intake = application_hints.suggest_resume_content(profile(**DANA), OFFER, SAID)
    assert intake.experience_highlights == (
        "Moved billing from MySQL to PostgreSQL",
        "Cut pump downtime by 40%",
        "Sang in the choir",
    )
    assert intake.projects_to_include[0] == "tinypump: a simulator of pumps in Python"
    assert intake.achievement_angles == ("Best Pump 2020", "Best Choir 2019")


def test_the_summary_keeps_the_sentences_that_touch_the_listing() -> None:
    intake = application_hints.suggest_resume_content(profile(**DANA), OFFER, SAID)
    assert intake.professional_summary == (
        "Backend engineer who keeps water running. Wrote pump schedulers in Python."
    )
    nothing = application_hints.suggest_resume_content(
        profile(summary="Paints boats."), OFFER, SAID
    )
    assert nothing.professional_summary == "Paints boats."


def test_without_a_summary_it_states_years_and_skills() -> None:
    intake = application_hints.suggest_resume_content(profile(), OFFER, SAID)
    assert intake.professional_summary == "8 years of experience: Python, PostgreSQL, Docker"
    empty = profile(skills=[], experience_years=None)
    assert application_hints.suggest_resume_content(empty, OFFER, SAID).professional_summary == ""


def test_keywords_are_the_postings_words_for_skills_that_the_profile_has() -> None:
    intake = application_hints.suggest_resume_content(profile(**DANA), OFFER, SAID)
    assert intake.ats_keywords == ("Python", "postgres")


def test_a_skill_that_is_only_implied_is_not_stated() -> None:
    intake = application_hints.suggest_resume_content(profile(skills=["Django"]), OFFER, SAID)
    assert intake.ats_keywords == ()
    assert intake.prioritized_skills == ("Django",)
