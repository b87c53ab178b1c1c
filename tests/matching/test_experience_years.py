"""Required years of experience are told apart from other numbers of years."""

from __future__ import annotations

import pytest

from jobmill.matching.posting_facts import experience_years, sections


def read(text: str) -> tuple[float, float | None] | None:
    years = experience_years.read_years(text, sections.find_sections(text))
    return (years.least, years.most) if years else None


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("5+ years of experience", 5, None),
        ("Python: 5 years' experience", 5, None),
        ("3-5 years of experience in pumps", 3, 5),
        ("3 \u2013 5 years experience", 3, 5),
        ("3 to 5 years of experience", 3, 5),
        ("6\u201310+ years in sales", 6, None),
        ("At least three years of relevant experience", 3, None),
        ("Minimum of two (2) years of experience", 2, None),
        ("min.1 year experience in a hotel", 1, None),
        ("+4 years of experience", 4, None),
        ("10 plus years of product experience", 10, None),
        ("4 yrs exp with wells", 4, None),
        ("A decade of experience in wells", 10, None),
        ("You've spent 6 years building pumps", 6, None),
        ("With 10+ years under your belt", 10, None),
        ("Experience\n5-7 yrs", 5, 7),
        ("Up to 2 years of experience", 0, 2),
        ("a minimum of 6 months' experience in search", 0.5, None),
        ("What we're looking for 2+ years in partnerships", 2, None),
        ("No experience required: we teach you", 0, None),
        ("several years of professional experience", 3, None),
        ("Mindestens 4-5 Jahre Praxiserfahrung", 4, 5),
        ("mind. zwei Jahre Erfahrung", 2, None),
        ("Erste Berufserfahrung (ca. 2\u20135 Jahre)", 2, 5),
        ("Mehrjährige relevante Berufserfahrung", 3, None),
        ("Erste Berufserfahrung im Brunnenbau", 0, 2),
        ("Vous avez entre 4 et 6 ans d'expérience", 4, 6),
        ("Expérience : 2 ans", 2, None),
        ("Une première expérience réussie en vente", 0, 2),
        ("Experiencia mínima de 4-5 años", 4, 5),
        # A letter that becomes longer in lower case.
        ("\u0130" * 30 + "\n5+ years of experience", 5, None),
        ("al menos uno o dos años de experiencia", 1, 2),
    ],
)
def test_years_are_read_as_people_write_them(text: str, least: float, most: float | None) -> None:
    assert read(text) == (least, most)


@pytest.mark.parametrize(
    "text",
    [
        "For over 25 years, we have dug wells.",
        "With over 35 years of success in pumps, we are growing",
        "our more than 30 years of experience to invest",
        "We are a family firm with over 12 years of experience",
        "Dr. Wells has 30 years of experience",
        "Must be at least 18 years of age",
        "Be 18 years or older",
        "the next ten years",
        "a four-year degree",
        "A Bachelor's (4 years of study)",
        "options that vest over 4 years",
        "a 3-year contract",
        "a 12 month contract",
        "for five years in a row a top company",
        "Two trips each year",
        "seit mehr als 10 Jahren am Markt",
        "enfants de 3 à 11 ans",
        "entreprise créée il y a plus de 35 ans",
        "llevamos más de 25 años ayudando a pymes",
        "an answer to all plans",
        "$10 years",
        "",
        "Our team has 50+ years of combined experience",
        "Decades of experience at your side",
    ],
)
def test_other_time_spans_are_not_experience(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "least"),
    [
        # Eight years with one tool mean eight years in total.
        ("3+ years of experience with SQL\n8+ years of software experience", 8),
        ("10+ years of experience, including 4+ years in leadership", 10),
        # Preferred years do not count next to required ones.
        ("Requirements\n- 3+ years of experience\nNice to have\n- 8+ years of experience", 3),
        ("3 years of experience. 6+ years of experience preferred.", 3),
        # Of alternatives, the shortest counts.
        ("Degree and 4 years of experience, or 8 years of experience in lieu of a degree", 4),
        ("PhD and 2+ years of industry experience, or M.S. with 6+ years of experience", 2),
        ("Nice to have\n- 8+ years of experience", 8),
    ],
)
def test_of_several_required_years_the_highest_counts(text: str, least: float) -> None:
    years = read(text)
    assert years is not None
    assert years[0] == least


def test_the_words_are_the_line() -> None:
    text = "About us\n- 5+ years of experience in pumps\nBenefits"
    years = experience_years.read_years(text, sections.find_sections(text))
    assert years is not None
    assert years.words == "5+ years of experience in pumps"
