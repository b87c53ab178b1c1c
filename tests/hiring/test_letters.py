from __future__ import annotations

import datetime as dt
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from jobmill.errors import Invalid
from jobmill.hiring.messages import letter_variables, letters
from jobmill.hiring.messages.letter_variables import LetterText
from jobmill.hiring.messages.notices import NoticeKind, OutgoingLetter
from jobmill.hiring.messages.signed_links import LinkSigner
from tests.hiring.notices_helpers import HOUR, NOW, OFFER_LETTER

SECRET = b"s" * 32
BASE = "https://wells.example"


def render(letter: OutgoingLetter, folder: Path | None = None) -> LetterText:
    values = letters.template_values(letter, LinkSigner(SECRET), BASE)
    return letters.render_letter(letters.choose_template(letter), values, folder)


@pytest.mark.parametrize("kind", get_args(NoticeKind))
def test_every_kind_of_notice_has_a_letter_with_all_placeholders_filled(kind: NoticeKind) -> None:
    data = {"position": 4, "missed": 2, "text": "Come by."}
    text = render(replace(OFFER_LETTER, kind=kind, data=data))
    assert "$" not in text.subject + text.body
    assert "Baker" in text.subject
    assert text.body.startswith("Hello Ada,")
    assert (f"{BASE}/confirm/" if kind == "confirm" else f"{BASE}/my/") in text.body


def test_a_letter_tells_what_happens_to_an_application_without_confirmation() -> None:
    placed = replace(OFFER_LETTER, kind="confirm")
    assert "Without your confirmation the application ends" in render(placed).body
    waits = replace(placed, application_id=None, apply_request_id=3)
    assert "Without your confirmation there is no application." in render(waits).body


def test_a_letter_without_a_reason_has_no_gap() -> None:
    body = render(replace(OFFER_LETTER, kind="closed", data={})).body
    assert "Thank you for your interest.\n\nYour applications:" in body


def test_every_built_in_letter_can_be_replaced() -> None:
    assert {file.stem for file in letters.BUILT_IN_TEMPLATES.iterdir()} == {
        *letter_variables.VARIABLES
    }
    letters.check_templates(letters.BUILT_IN_TEMPLATES)
    letters.check_templates(None)


def test_only_letters_to_waiting_applicants_tell_a_position() -> None:
    waits = replace(
        OFFER_LETTER, kind="applied", status="WAITLIST", deadline=None, data={"position": 7}
    )
    assert "at position 7" in render(waits).body
    assert "It is yours." in render(replace(waits, data={})).body


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (dt.timedelta(seconds=1), "1 minute"),
        (dt.timedelta(minutes=5), "5 minutes"),
        (dt.timedelta(minutes=119), "119 minutes"),
        (dt.timedelta(minutes=179), "2 hours"),
        (dt.timedelta(hours=47), "47 hours"),
        (dt.timedelta(days=7, hours=1), "7 days"),
        (dt.timedelta(seconds=-9), "0 minutes"),
    ],
)
def test_the_remaining_time_has_a_suitable_unit(left: dt.timedelta, words: str) -> None:
    values = letters.template_values(
        replace(OFFER_LETTER, deadline=NOW + left), LinkSigner(SECRET), BASE
    )
    assert values["left"] == words


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ada  Lovelace", "Ada Lovelace"),
        ("Ada\r\nBcc: x", "Ada Bcc: x"),
        ("Win money at http://evil.example", ""),
        ("WWW.evil.example", ""),
        ("eve@evil.example", ""),
        ("x" * 200, "x" * 80),
        ("$title", "$title"),
    ],
)
def test_a_name_with_a_link_is_not_mailed(name: str, shown: str) -> None:
    assert (f"Hello {shown}," if shown else "Hello,") in render(
        replace(OFFER_LETTER, name=name)
    ).body


def test_a_letter_of_the_company_replaces_the_built_in_one(tmp_path: Path) -> None:
    template = "Subject: Platz frei: $title\n\nHallo $name, kostet $$5.\n$accept_link\n"
    (tmp_path / "promoted.txt").write_text(template, encoding="utf-8")
    letters.check_templates(tmp_path)
    text = render(OFFER_LETTER, tmp_path)
    assert text.subject == "Platz frei: Baker"
    assert text.body.startswith("Hallo Ada, kostet $5.\nhttps://wells.example/offer/")
    assert "answer" in render(replace(OFFER_LETTER, kind="reminder"), tmp_path).subject


WRONG = [
    ("promoted", "Hello\n", r"promoted\.txt:1 should be `Subject:`"),
    ("promoted", "Subject:  \n\nHello\n", r"promoted\.txt:1 should be `Subject:`"),
    ("promoted", "Subject: Hi\n\n$acept_link\n", r"uses \$acept_link.*\$accept_link"),
    ("promoted", "Subject: $nmae\n\nHi\n", r"uses \$nmae"),
    ("withdrawn", "Subject: Hi\n\n$accept_link\n", r"uses \$accept_link"),
    ("promoted", "Subject: Hi\n\nIt costs $5\n", r"Write \$\$"),
    ("promoted", "Subject: Hi\n\nA place for you!\n", r"Add \$accept_link or \$my_link"),
]


@pytest.mark.parametrize(("name", "text", "complaint"), WRONG)
def test_an_invalid_letter_is_named_and_the_built_in_one_is_sent(
    name: Any, text: str, complaint: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / f"{name}.txt").write_text(text)
    with pytest.raises(Invalid, match=complaint):
        letters.check_templates(tmp_path)
    letter = replace(OFFER_LETTER, kind=name)
    with caplog.at_level(logging.WARNING):
        assert render(letter, tmp_path) == render(letter)
    assert "letter template not usable" in caplog.text


def test_all_problems_of_letters_are_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "promotion.txt").write_text("Subject: Hi\n\nHello\n")
    (tmp_path / "removed.txt").write_bytes(b"Subject: \xff\n\nHello\n")
    with pytest.raises(
        Invalid, match=r"promotion\.txt is not an email template.*removed\.txt cannot"
    ):
        letters.check_templates(tmp_path)
    with pytest.raises(Invalid, match="not a folder"):
        letters.check_templates(tmp_path / "none")


def test_a_message_id_belongs_to_one_notice_of_one_installation() -> None:
    def made(secret: bytes = SECRET, **changed: Any) -> str:
        return letters.message_id(replace(OFFER_LETTER, **changed), secret, "wells.example")

    assert made() == made(data={"position": 1}, at=NOW + HOUR)
    others = [made(b"t" * 32), made(id=2), made(created_at=NOW + HOUR)]
    assert len({made(), *others}) == 4
