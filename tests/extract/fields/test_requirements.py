import pytest

from jobmill.extract.fields import html_text, requirements

LIST = "- Can bake\n- Wakes early"


@pytest.mark.parametrize(
    "heading",
    [
        "Requirements", "REQUIREMENTS:", "Minimum qualifications", "What you'll need",
        "What you\u2019ll bring",
        "What we're looking for", "Who you are", "About you", "You might be a great fit if you:",
        "Skills & Experience", "🎯 Qualifications", "**Must-haves**",
        "At a minimum, you need to have:",
        "Ihr Profil", "Dein Profil:", "Das bringst du mit", "Anforderungen",
        "Profil recherché", "Votre profil", "Compétences requises",
        "Requisitos", "Qué buscamos", "Wat vragen wij", "Functie-eisen", "Requisiti",
        "O que procuramos",
        "Wymagania", "Czego oczekujemy", "Kvalifikationer", "Vem är du?",
    ],
)  # fmt: skip
def test_text_below_a_requirements_heading_is_found(heading: str) -> None:
    description = f"We bake.\n\nYour tasks\n- Bake\n\n{heading}\n{LIST}\n\nBenefits\n- Bread"
    assert requirements.find_requirements(description) == f"{heading}\n{LIST}"


@pytest.mark.parametrize(
    "heading",
    [
        "Benefits",
        "What we offer",
        "About us",
        "Wir bieten",
        "Our values:",
        "WHY US",
        "Nous offrons",
    ],
)
def test_another_heading_ends_the_section(heading: str) -> None:
    section = requirements.find_requirements(
        f"Requirements\nCan bake\nWakes early\n\n{heading}\nBread"
    )
    assert section == "Requirements\nCan bake\nWakes early"


def test_several_sections_are_kept_without_the_text_between_them() -> None:
    section = requirements.find_requirements(
        "Requirements:\n- Can bake\n\nYou get\n- Bread\n\nNice to have\n- Can sing\n\nAbout us\nBread."
    )
    assert section == "Requirements:\n- Can bake\n\nNice to have\n- Can sing"


def test_subheadings_do_not_end_the_section() -> None:
    inside = "Requirements\nMust have:\n- Can bake\nLanguages:\n- Dutch\nNice to have:\n- Can sing"
    assert requirements.find_requirements(f"{inside}\n\nBenefits:\n- Bread") == inside


def test_a_paragraph_after_the_list_is_about_something_else() -> None:
    paragraph = "We are an equal opportunity employer and welcome everyone who can bake, " * 2
    assert (
        requirements.find_requirements(f"Requirements\n{LIST}\n\n{paragraph}")
        == f"Requirements\n{LIST}"
    )


def test_a_heading_may_share_its_line_with_its_text() -> None:
    assert requirements.find_requirements(
        "We bake.\nRequirements: two years of baking.\nApply now."
    ) == ("Requirements: two years of baking.")


@pytest.mark.parametrize(
    "description",
    [
        None,
        "",
        "We bake.\n\nBenefits\n- Bread",
        "- Requirements gathering with bakers\n- Skills training",
        "We look at your qualifications and your profile with care.",
        "What you'll do\n- Bake",
        "Experience with ovens is a plus, and we will teach you the rest of what there is to know.",
    ],
)
def test_without_a_heading_nothing_is_found(description: str | None) -> None:
    assert requirements.find_requirements(description) is None


def test_sections_are_found_in_converted_html() -> None:
    html = (
        "<p>We bake.</p><h3>Who you are</h3><ul><li><p>Baker</p></li></ul><h3>Pay</h3><p>Bread</p>"
    )
    assert requirements.find_requirements(html_text.from_html(html)) == "Who you are\n- Baker"
