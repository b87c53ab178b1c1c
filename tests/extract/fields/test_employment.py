import pytest

from jobmill.extract.fields import employment


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Full-time", "full_time"),
        ("FULL_TIME", "full_time"),
        ("FullTime", "full_time"),
        ("fulltime_permanent", "full_time"),
        ("Festanstellung, Vollzeit", "full_time"),
        ("Temps plein", "full_time"),
        ("Jornada completa", "full_time"),
        ("Part time", "part_time"),
        ("Teilzeit", "part_time"),
        ("temps partiel", "part_time"),
        ("CONTRACTOR", "contract"),
        ("Freelance", "contract"),
        ("Full-time contract", "contract"),
        ("Temporary", "temporary"),
        ("Fixed-Term", "temporary"),
        ("CDD", "temporary"),
        ("befristet", "temporary"),
        ("INTERN", "internship"),
        ("Full-time Internship", "internship"),
        ("Praktikum", "internship"),
        ("Stage", "internship"),
        ("Ausbildung", "apprenticeship"),
        ("Alternance", "apprenticeship"),
        ("VOLUNTEER", "volunteer"),
        ("PER_DIEM", "per_diem"),
        ("full", "full_time"),
        ("part", "part_time"),
        ("full-or-part-time", "full_time"),
        (["OTHER", "PART_TIME"], "part_time"),
        (["Experienced", "Permanent", "Full time"], "full_time"),
        (["Experienced", "Permanent"], "Experienced"),
        ((), None),
        ("International assignment", "International assignment"),
        ("Permanent contract", "Permanent contract"),
        ("working_student", "working student"),
        ("OTHER", None),
        ("n/a", None),
        (" ", None),
        (None, None),
        (1, None),
    ],
)
def test_known_labels_are_mapped_and_others_kept(label: object, expected: str | None) -> None:
    assert employment.parse_employment_type(label) == expected
