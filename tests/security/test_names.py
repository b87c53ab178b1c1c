"""Letters greet people by a name that a stranger may have entered for their address."""

from __future__ import annotations

import pytest

from jobmill.errors import Invalid
from jobmill.hiring.records.applicants import parse_contact


@pytest.mark.parametrize(
    "name",
    [
        "Ada Lovelace", "J. R. R. Tolkien", "Dr. Müller-Lüdenscheidt", "St.John Smith", "O'Neill", "Ng",
        "José María", "李雷", "Anna 3rd", "Sammy Davis Jr.", "M.C. Escher", "van der Berg, Jan",
        "Al-Rashid (née Haddad)", "Person 123456",
    ],
)  # fmt: skip
def test_names_of_people_are_accepted(name: str) -> None:
    assert parse_contact(name, "ada@example.org").name == name


@pytest.mark.parametrize(
    "name",
    [
        "URGENT: your payroll login evil-pay.com", "https://evil.example", "www.evil", "evil.co/login",
        "//evil", "Ada ada@evil.example", "call +49 170 1234567", "win 0800-123-4567",
    ],
)  # fmt: skip
def test_names_that_advertise_are_refused(name: str) -> None:
    with pytest.raises(Invalid, match="must not contain a link"):
        parse_contact(name, "ada@example.org")
