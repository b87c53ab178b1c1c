import pytest

from jobmill.extract.fields import work_arrangement


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("OnSite", "onsite"),
        ("on-site", "onsite"),
        ("In-Office", "onsite"),
        ("Office", "onsite"),
        ("No remote", "onsite"),
        ("Présentiel", "onsite"),
        ("Hybrid Remote", "hybrid"),
        ("Télétravail partiel", "hybrid"),
        ("hybrydowa", "hybrid"),
        ("Fully Remote", "remote"),
        ("fully_remote", "remote"),
        ("TELECOMMUTE", "remote"),
        ("Home Office", "remote"),
        ("praca zdalna", "remote"),
        ("unspecified", None),
        ("Flexible", None),
        ("", None),
        (None, None),
        (True, None),
    ],
)
def test_a_sites_own_word_is_understood(label: object, expected: str | None) -> None:
    assert work_arrangement.from_label(label) == expected


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("Remote - USA", "remote"),
        ("US-Remote", "remote"),
        ("Distributed", "remote"),
        ("United States - Home Based", "remote"),
        ("St. Louis, MO (Hybrid)", "hybrid"),
        ("On-site, Lyon", "onsite"),
        ("Germany", None),
        ("Head Office, Leeds", None),
        ("Lyon", None),
    ],
)
def test_a_place_says_where_the_work_is_done(place: str, expected: str | None) -> None:
    assert work_arrangement.infer_arrangement("Baker", [place], None) == expected


def test_one_remote_place_among_others_is_enough() -> None:
    assert work_arrangement.infer_arrangement("Baker", ["Lyon", "Remote, France"], None) == "remote"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Therapist (Remote)", "remote"),
        ("Remote Therapist", "remote"),
        ("Planner - Hybrid", "hybrid"),
        ("Planner (Richmond, Hybrid)", "hybrid"),
        ("Therapist - On-Site Bronx", "onsite"),
        ("Remote Sensing Engineer", None),
        ("Remote Pilot Operator", None),
        ("Hybrid Cloud Architect", None),
        ("Onsite Support Technician", None),
        ("Planner", None),
    ],
)
def test_a_title_tells_the_arrangement_unless_it_names_a_trade(
    title: str, expected: str | None
) -> None:
    assert work_arrangement.infer_arrangement(title, [], None) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This role is remote and can be done anywhere in Spain.", "remote"),
        ("This fully remote role offers much.", "remote"),
        ("In our office or fully remotely, as you like.", "remote"),
        ("The work can be done remotely.", "remote"),
        ("You can be located anywhere in the US.", "remote"),
        ("Remote? Yes!", "remote"),
        ("This is a work-from-home role.", "remote"),
        ("100% telework.", "remote"),
        ("Good pay.\n\n#LI-Remote", "remote"),
        ("Work Location: Remote", "remote"),
        ("This is a hybrid role, with at least 3 days per week in the office.", "hybrid"),
        ("We meet in the office 2 days a week.", "hybrid"),
        ("Expect three days a week in our Leeds office.", "hybrid"),
        ("Work style: Hybrid", "hybrid"),
        ("We use a hybrid work model.", "hybrid"),
        ("Zwei Tage pro Woche im Homeoffice", "hybrid"),
        ("This position is on-site.", "onsite"),
        ("You work five days a week in the office.", "onsite"),
        ("This is not a remote position.", "onsite"),
        ("We have a remote-friendly culture.", None),
        ("This is a hybrid role for someone who bakes and sings.", None),
        ("As a remote-first company we write a lot.", None),
        ("You know hybrid cloud, Microsoft Office and remote debugging.", None),
        ("You will work with remote teams and on-site customers.", None),
        ("25 days of leave, and a home office budget.", None),
    ],
)
def test_a_text_must_be_about_this_posting(text: str, expected: str | None) -> None:
    assert work_arrangement.infer_arrangement("Baker", ["Lyon"], text) == expected


def test_places_win_over_the_title_and_the_title_over_the_text() -> None:
    text = "This role is on-site."
    assert work_arrangement.infer_arrangement("Baker (Hybrid)", ["Remote"], text) == "remote"
    assert work_arrangement.infer_arrangement("Baker (Hybrid)", ["Lyon"], text) == "hybrid"
    assert work_arrangement.infer_arrangement("Baker", ["Lyon"], text) == "onsite"
