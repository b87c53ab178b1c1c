from __future__ import annotations

import pytest

from jobmill.boards.adapters import find_platform
from jobmill.matching.profile import Profile, ProfilePerson, Skill, StopLists
from jobmill.rotation import bundled_companies, company_suggestions

NURSE = Profile(
    person=ProfilePerson(home_city="Paris, France", timezone="Europe/Paris"),
    titles=("ICU Nurse",),
    skills=(Skill(name="Patient care", rank="primary"), Skill(name="Wound care")),
    arrangements=("onsite",),
)
ENGINEER = Profile(
    person=ProfilePerson(home_city="Amsterdam", timezone="Europe/Amsterdam"),
    titles=("Payments Engineer",),
    skills=(Skill(name="Kubernetes", rank="primary"),),
)


def rank(profile: Profile | None) -> list[company_suggestions.CompanySuggestion]:
    return company_suggestions.rank_companies(profile, bundled_companies.all_companies())


def test_companies_of_the_persons_field_and_place_come_first_with_the_reason() -> None:
    suggestions = rank(NURSE)
    first = suggestions[0]
    assert first.company.field == "Health"
    assert first.company.about.endswith("France")
    assert first.matches[-1] == "Paris"
    assert {"Patient care", "ICU Nurse"} <= set(first.matches)
    named = [
        suggestion.company.field for suggestion in suggestions if "ICU Nurse" in suggestion.matches
    ]
    assert set(named) == {"Health"}
    assert len(suggestions) == len(bundled_companies.all_companies()), "none is hidden"
    adyen = rank(ENGINEER)[0]
    assert adyen.company.name == "Adyen"
    assert adyen.matches == ("Payments Engineer", "Amsterdam")


@pytest.mark.parametrize(
    "profile", [None, Profile(arrangements=("onsite",), person=ProfilePerson(home_city="Lagos"))]
)
def test_without_a_fit_the_list_keeps_its_order(profile: Profile | None) -> None:
    suggestions = rank(profile)
    assert [row.company for row in suggestions] == list(bundled_companies.all_companies())
    assert not any(row.matches for row in suggestions)


def test_a_company_on_the_stop_list_is_not_suggested() -> None:
    refused = NURSE.model_copy(update={"stop_lists": StopLists(companies=("doctolib", "Alan"))})
    names = {row.company.name for row in rank(refused) if row.matches}
    assert names
    assert not names & {"Doctolib", "Alan"}


def test_searches_use_titles_and_places_and_name_missing_keys() -> None:
    searches = company_suggestions.suggest_searches(NURSE, {"JOOBLE_API_KEY": "k"})
    assert next((row.platform, row.missing_keys) for row in searches) == ("jooble", ())
    assert all(row.keywords == ("ICU Nurse",) and row.locations == ("Paris",) for row in searches)
    # Sites of remote jobs are suggested only to people who work remotely.
    assert "remotive" not in {row.platform for row in searches}
    remote = {row.platform: row for row in company_suggestions.suggest_searches(ENGINEER, {})}
    assert (remote["remotive"].locations, remote["remotive"].missing_keys) == ((), ())
    assert company_suggestions.suggest_searches(Profile(), {}) == []
    assert all(find_platform(row.platform).disabled is None for row in searches)


def test_every_industry_has_words() -> None:
    assert set(company_suggestions._sectors()) == set(bundled_companies.all_fields())
