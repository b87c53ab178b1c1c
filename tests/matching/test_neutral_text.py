from __future__ import annotations

from dataclasses import replace

import pytest

from jobmill.catalog.posting import Posting
from jobmill.matching.embeddings import neutral_text
from jobmill.matching.profile import Profile, ProfilePerson

TEXT = """\
{company} keeps wells running. Founded by {company}'s first crew.
About {company}
Read more at www.{site}.com/crew or {site}.io, ask hands@{site}.com.
What you'll do
- Look after pumps at {company}
Benefits
- Dental, and a {company} mug
Requirements
- Five years with controllers, also {company}-made ones
{company} is an equal opportunity employer.
"""


def offered_by(company: str, site: str) -> str:
    text = TEXT.format(company=company, site=site)
    return neutral_text.posting_text(
        Posting(f"Engineer at {company}", company=company, description=text)
    )


@pytest.mark.parametrize(
    ("company", "site"),
    [
        ("Blue Fjord", "bluefjord"),
        ("Lowe's", "lowes"),
        ("Salt & Sons", "saltandsons"),
        ("adeline", "adeline"),
        ("Škrob", "škrob"),
        ("C", "c"),
    ],
)
def test_the_company_does_not_change_the_text(company: str, site: str) -> None:
    assert offered_by(company, site) == offered_by("Wells", "wells")


@pytest.mark.parametrize(
    ("company", "written"),
    [
        ("Blue Fjord GmbH", "Blue Fjord"),
        ("Blue Fjord", "BlueFjord"),
        ("Blue Fjord", "BLUE FJORD"),
        ("Blue Fjord", "Blue-Fjord, Inc."),
        ("Blue Fjord Technologies Ltd", "Blue Fjord"),
        ("Blue Fjord", "bluefjord.com"),
        ("Centre For Blue Fjord", "Centre for Blue Fjord"),
        ("Lowes", "Lowe\u2019s"),
        ("Salt and Sons", "Salt & Sons"),
    ],
)
def test_a_company_is_found_in_every_spelling(company: str, written: str) -> None:
    posting = Posting("Welder", company=company, description=f"Weld for {written} at sea")
    assert neutral_text.posting_text(posting) == "welder.\nweld for at sea"


def test_a_company_name_used_as_a_word_is_kept() -> None:
    posting = Posting(
        "Packer", company="Box", description="Box packs a box with C and Boxing gloves"
    )
    assert neutral_text.posting_text(posting) == "packer.\npacks a box with c and boxing gloves"


def test_a_language_is_not_the_company_that_it_begins_like() -> None:
    posting = Posting("C++ Developer", company="C", description="C# helps")
    assert neutral_text.posting_text(posting) == "c++ developer.\nc# helps"


def test_text_about_the_work_comes_first_and_company_praise_is_removed() -> None:
    posting = Posting(
        "Welder",
        description="We are nice.\nAbout us\nSince 1900.\nResponsibilities\nWeld pipes.\n"
        "Our benefits\nSoup.\nAbout you\nSteady hands.\n"
        "We hire without regard to anything.",
    )
    assert neutral_text.posting_text(posting) == (
        "welder.\nresponsibilities weld pipes. about you steady hands. we are nice."
    )


def test_requirements_replace_the_full_text_if_present() -> None:
    posting = Posting("Welder", description="Long.\nSteady hands.", requirements="Steady hands.")
    assert neutral_text.posting_text(posting) == "welder.\nsteady hands."


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("He leads his crew himself.", "She leads her crew herself."),
        ("He's quick", "SHE'S quick"),
        ("Ask him or his wife", "Ask her or their husband"),
        ("Welder (m/w/d)", "Welder (f/m/x)"),
        ("a young man", "an elderly woman"),
        ("a salesman", "a salesperson"),
        ("a French engineer", "an Italian engineer"),
        ("two Nigerians", "two South Africans"),
        ("an Englishman", "a Dutchwoman"),
        ("a Polish, Catholic welder", "an Indian, Hindu welder"),
        ("a 25-year-old Muslim", "a 61 year old Christian"),
        ("a Black woman", "a white man"),
        ("Mr. Welder", "Mrs. Welder"),
    ],
)
def test_words_for_protected_attributes_are_removed(first: str, other: str) -> None:
    texts = [Posting("Engineer", description=text) for text in (first, other)]
    assert neutral_text.posting_text(texts[0]) == neutral_text.posting_text(texts[1])
    profiles = [Profile(titles=("Engineer",), highlights=(text,)) for text in (first, other)]
    assert neutral_text.profile_text(profiles[0]) == neutral_text.profile_text(profiles[1])


@pytest.mark.parametrize(
    "text",
    ["Polish hulls and manage a theme, then mend shells", "Hermes, Mandarin, manual, senior"],
)
def test_similar_words_are_kept(text: str) -> None:
    polish = text.replace("Polish", "polish")
    assert (
        neutral_text.posting_text(Posting("Welder", description=polish))
        == f"welder.\n{polish.lower()}"
    )


def someone(name: str) -> Profile:
    first = name.split()[0]
    return Profile(
        person=ProfilePerson(name=name),
        titles=("Welder",),
        summary=f"{name} welds. {first}\u2019s seams hold.",
        highlights=(
            f"Best welder of the year: {name.upper()}",
            f"See seams.com/by/{first.lower()}",
        ),
    )


@pytest.mark.parametrize(
    "name", ["Grace Will", "José María Núñez", "Li Na", "Ann-Marie O'Neil", "Ola Nordmann, PhD"]
)
def test_the_person_does_not_change_the_text(name: str) -> None:
    assert neutral_text.profile_text(someone(name)) == neutral_text.profile_text(
        someone("Dana Pell")
    )


def test_one_more_skill_does_not_change_the_text() -> None:
    profile = someone("Dana Pell")
    more = Profile.model_validate({**profile.model_dump(), "skills": ["Python"]})
    assert neutral_text.profile_text(more) == neutral_text.profile_text(profile) != ""


def test_a_posting_without_a_company_or_a_text_is_its_title() -> None:
    assert neutral_text.posting_text(Posting("Welder")) == "welder."
    assert (
        neutral_text.posting_text(replace(Posting("Welder"), company="GmbH & Co. KG")) == "welder."
    )
