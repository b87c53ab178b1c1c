from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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


INFORMATICIAN = NURSE.model_copy(update={"titles": ("Nurse Informatics Analyst",)})


def rank(
    profile: Profile | None, open_titles: Mapping[str, Sequence[str]] | None = None
) -> list[company_suggestions.CompanySuggestion]:
    companies = bundled_companies.all_companies()
    return company_suggestions.rank_companies(profile, companies, open_titles or {})


def list_suggested(*args: Any) -> list[tuple[str, tuple[str, ...]]]:
    return [(row.company.name, row.matches) for row in rank(*args) if row.matches]


def test_companies_of_the_persons_field_and_place_come_first_with_the_reason() -> None:
    suggestions = rank(INFORMATICIAN)
    first = suggestions[0]
    assert first.company.field == "Health"
    assert first.company.about.endswith("France")
    assert first.matches[-1] == "Paris"
    assert {"Patient care", "Nurse Informatics Analyst"} <= set(first.matches)
    assert len(suggestions) == len(bundled_companies.all_companies()), "none is hidden"
    adyen = rank(ENGINEER)[0]
    assert adyen.company.name == "Adyen"
    assert adyen.matches == ("Payments Engineer", "Amsterdam")


@pytest.mark.parametrize(
    ("titles", "fields"),
    [
        (("ICU Nurse",), set[str]()),
        (("Registered Nurse", "Midwife"), set[str]()),
        (("Primary School Teacher",), set[str]()),
        (("Sous Chef",), set[str]()),
        (("Bus Driver",), set[str]()),
        (("Plumber",), set[str]()),
        (("Warehouse Operative",), {"Logistics"}),
        (("Solar Electrician",), {"Energy"}),
        (("Mechanical Engineer",), {"Hardware", "Mobility"}),
        (("Nurse", "Clinical Data Analyst"), {"Health", "Data"}),
    ],
)
def test_an_industry_is_suggested_only_to_people_whom_it_hires(
    titles: tuple[str, ...], fields: set[str]
) -> None:
    # Shared words and the place alone do not make a company fit.
    skills = [Skill(name=name) for name in ("Patient care", "Health education") if not fields]
    home = "Paris, France" if not fields else "Lagos"
    profile = Profile(titles=titles, skills=tuple(skills), person=ProfilePerson(home_city=home))
    assert {row.company.field for row in rank(profile) if row.matches} == fields


def test_open_jobs_of_a_company_say_whom_it_hires() -> None:
    software = ["Engineer", "Designer", "Recruiter", "Lawyer", "Analyst"]
    open_titles = {"Cityblock Health": [*software, "Registered Nurse, Home Visits"]}
    nurse = NURSE.model_copy(update={"titles": ("Registered Nurse",)})
    [(name, matches)] = list_suggested(nurse, open_titles)
    assert (name, matches[0]) == ("Cityblock Health", "Registered Nurse, Home Visits")
    # A company of the right industry that hires other people is not suggested.
    wells = {"Doctolib": ["Cook", "Baker", "Waiter", "Gardener", "Barber"]}
    assert "Doctolib" in dict(list_suggested(INFORMATICIAN))
    assert "Doctolib" not in dict(list_suggested(INFORMATICIAN, wells))
    # A single job says little.
    assert "Doctolib" in dict(list_suggested(INFORMATICIAN, {"Doctolib": ["Cook"]}))


def test_a_profile_without_titles_is_not_compared_with_open_jobs() -> None:
    titles = {company.name: ["Cook"] for company in bundled_companies.all_companies()}
    assert dict(list_suggested(Profile(), titles)) == dict(list_suggested(Profile()))


@pytest.mark.parametrize(
    "profile", [None, Profile(arrangements=("onsite",), person=ProfilePerson(home_city="Lagos"))]
)
def test_without_a_fit_the_list_keeps_its_order(profile: Profile | None) -> None:
    suggestions = rank(profile)
    assert [row.company for row in suggestions] == list(bundled_companies.all_companies())
    assert not any(row.matches for row in suggestions)


def test_a_company_on_the_stop_list_is_not_suggested() -> None:
    refused = INFORMATICIAN.model_copy(
        update={"stop_lists": StopLists(companies=("doctolib", "Alan"))}
    )
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
    fields = set(bundled_companies.all_fields())
    assert set(company_suggestions._sectors()) == fields
    assert all(sectors <= fields for _, sectors in company_suggestions._hands_on_jobs())
