"""The company's identity, its logo and color, its letters, and the details of postings."""

from __future__ import annotations

import struct
import zlib
from decimal import Decimal

import pytest

from jobmill.db import Database, Tx
from jobmill.errors import Conflict, Invalid
from jobmill.hiring import accent_colors, company_identity, logo_images
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.audit_log import events, verification
from jobmill.hiring.company_identity import CompanyIdentity
from jobmill.hiring.logo_images import LogoImage, clean_logo, read_logo_upload
from jobmill.hiring.messages import letter_templates, letter_variables, letters
from jobmill.hiring.messages.html_letters import render_html
from jobmill.hiring.messages.letter_variables import LetterText
from jobmill.hiring.openings import posting_details
from jobmill.hiring.openings.posting_details import PostingDetails
from tests.hiring.helpers import make_opening
from tests.queue.helpers import fetch


def chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I4s", len(content), kind) + content + struct.pack(">I", checksum)


def make_png(
    width: int = 2, height: int = 2, *, pixels: bytes | None = None, extra: bytes = b""
) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\0" + b"\x10\x80\x40" * width) * height if pixels is None else pixels
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + extra
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def segment(marker: int, content: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def make_jpeg(width: int = 8, height: int = 8, *, scan: bytes = b"\x12\xff\x00\x34") -> bytes:
    frame = struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\x00"
    return (
        b"\xff\xd8"
        + segment(0xE1, b"Exif\0\0 position of the photographer")
        + segment(0xFE, b"<script>alert(1)</script>")
        + segment(0xDB, b"\0" + bytes(64))
        + segment(0xC0, frame)
        + segment(0xDA, b"\x01\x01\x00\x00\x3f\x00")
        + scan
        + b"\xff\xd9"
    )


SCRIPT = b"<script>alert(1)</script>"


async def test_a_logo_keeps_its_picture_and_nothing_else() -> None:
    hidden = chunk(b"tEXt", b"Comment\0" + SCRIPT)
    png = await read_logo_upload(make_png(extra=hidden) + b"PK\x03\x04" + SCRIPT)
    assert png == LogoImage("image/png", clean_logo(make_png()).data)
    assert SCRIPT not in png.data
    jpeg = clean_logo(make_jpeg() + SCRIPT)
    assert jpeg.media_type == "image/jpeg"
    assert b"Exif" not in jpeg.data
    assert SCRIPT not in jpeg.data
    assert jpeg.data.endswith(b"\x12\xff\x00\x34\xff\xd9")


HOSTILE = {
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "PNG or JPEG"),
    "gif": (b"GIF89a" + bytes(20), "PNG or JPEG"),
    "empty": (b"", "PNG or JPEG"),
    "huge dimensions": (make_png(60_000, 60_000, pixels=b"\0"), "2,000 by 2,000"),
    "bomb": (make_png(pixels=bytes(50_000_000)), "damaged"),
    "too few pixels": (make_png(pixels=b"\0\0"), "damaged"),
    "cut off": (make_png()[:-20], "damaged"),
    "wrong checksum": (make_png().replace(b"IDAT", b"IDAX"), "damaged"),
    "wide jpeg": (make_jpeg(width=9_000), "2,000 by 2,000"),
    "jpeg without an end": (make_jpeg()[:-2], "damaged"),
    "jpeg without a picture": (b"\xff\xd8\xff\xd9", "PNG or JPEG|damaged"),
    "too large": (make_png() + bytes(logo_images.MAX_BYTES), "1 MB"),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_logo_is_refused_with_a_clear_message(name: str) -> None:
    data, message = HOSTILE[name]
    with pytest.raises(Invalid, match=message):
        await read_logo_upload(data)


@pytest.mark.parametrize(
    "color", ["#ffffff", "#000000", "#ffff00", "#1f5c43", "#777777", "#0000ff"]
)
def test_text_in_the_color_of_the_company_is_readable_in_both_themes(color: str) -> None:
    light, dark = accent_colors.for_light_theme(color), accent_colors.for_dark_theme(color)
    assert accent_colors.contrast(light, "#f7f7f4") >= 4.5
    assert accent_colors.contrast(dark, "#1e2225") >= 4.5
    assert accent_colors.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert accent_colors.for_light_theme("#1f5c43") == "#1f5c43"


async def test_the_identity_is_saved_and_its_changes_are_recorded(tx: Tx) -> None:
    assert await company_identity.read_identity(tx) == CompanyIdentity()
    saved = await company_identity.save_identity(
        tx, name="  Wells   Bakery ", website="https://wells.example", accent="1F5C43"
    )
    assert saved == CompanyIdentity("Wells Bakery", "https://wells.example", "#1f5c43")
    await company_identity.set_name_once(tx, "Another")
    await company_identity.save_logo(tx, LogoImage("image/png", make_png()))
    identity = await company_identity.read_identity(tx)
    assert identity.name == "Wells Bakery"
    assert identity.logo_hash
    assert await company_identity.read_logo(tx) == LogoImage("image/png", make_png())
    changes = await fetch(
        tx, "SELECT after FROM people.change WHERE subject_type = 'company' ORDER BY id"
    )
    assert changes[0]["name"] == "Wells Bakery"
    assert changes[1] == {"logo": "…"}
    for wrong in ({"name": "x" * 201}, {"website": "javascript:alert(1)"}, {"accent": "red"}):
        with pytest.raises(Invalid):
            await company_identity.save_identity(tx, **{"name": None, **wrong})


async def test_a_letter_has_versions_and_an_opening_may_have_its_own(tx: Tx) -> None:
    opening = await make_opening(tx)
    general, own = LetterText("Hi $name", "Welcome.\n"), LetterText("Ciao $name", "Benvenuta.\n")
    await letter_templates.save_text(tx, "applied", general, LOCAL, based_on=0)
    await letter_templates.save_text(tx, "applied", own, LOCAL, opening_id=opening.id)
    assert await letter_templates.find_text(tx, "applied", None) == general
    assert await letter_templates.find_text(tx, "applied", opening.id) == own
    await letter_templates.save_text(tx, "applied", None, LOCAL, opening_id=opening.id)
    assert await letter_templates.find_text(tx, "applied", opening.id) == general
    # Saving the same text again adds no version.
    await letter_templates.save_text(tx, "applied", general, LOCAL)
    await letter_templates.save_text(tx, "applied", None, LOCAL)
    assert await letter_templates.find_text(tx, "applied", opening.id) is None
    versions = await letter_templates.list_versions(tx, "applied")
    assert [(version.version, version.text) for version in versions] == [(2, None), (1, general)]
    for letter, subject, body, message in (
        ("applied", "Hi", "$position", r"uses \$position.*\$company"),
        ("applied", "Hi", "${name.__class__}", "Write"),
        ("applied", " ", "Hi", "subject"),
        ("applied", "Hi", "", "text"),
        ("none", "Hi", "Hi", "no email template none"),
        ("confirm", "$confirm_link", "Confirm at $my_link", r"Add \$confirm_link to the text"),
        ("promoted", "Hi", "$decline_link", r"Add \$accept_link or \$my_link to the text"),
        ("reminder", "Hi", "$$accept_link", r"Add \$accept_link or \$my_link to the text"),
    ):
        for opening_id in (None, opening.id):
            with pytest.raises(Invalid, match=message):
                await letter_templates.save_text(
                    tx, letter, LetterText(subject, body), LOCAL, opening_id=opening_id
                )
    for letter, body in (("confirm", "$confirm_link"), ("promoted", "$my_link")):
        await letter_templates.save_text(tx, letter, LetterText("Hi", body), LOCAL)


async def test_the_second_of_two_who_edit_the_same_version_is_told(database: Database) -> None:
    async with database.transaction() as tx:
        await letter_templates.save_text(tx, "applied", LetterText("A", "A"), LOCAL, based_on=0)
    with pytest.raises(Conflict, match="changed since you opened it"):
        async with database.transaction() as tx:
            await letter_templates.save_text(tx, "applied", LetterText("B", "B"), LOCAL, based_on=0)


def test_a_preview_fills_every_variable_of_every_letter() -> None:
    for letter, names in letter_variables.VARIABLES.items():
        values = letters.sample_values(letter, "https://w.example", title="Baker", company=None)
        assert names <= set(values)
        every = LetterText("$name", " ".join(f"${name}" for name in sorted(names)))
        assert "$" not in letters.fill_text(every, values).body


def test_the_html_of_a_letter_escapes_everything_and_links_only_addresses() -> None:
    company = CompanyIdentity("Wells & Co", accent="#ffff00", logo_hash="abc")
    body = "Hello <b>Ada</b>,\nsee https://w.example/my/x?a=1&b=2.\n\n<script>alert(1)</script>"
    page = render_html(body, company, company.name, "https://w.example")
    assert "<script" not in page
    assert "<b>" not in page
    assert '<a href="https://w.example/my/x?a=1&amp;b=2"' in page
    assert '<img src="https://w.example/openings/logo?v=abc" alt="Wells &amp; Co"' in page
    assert "#ffff00" not in page
    # A client of the company does not get the company's logo.
    assert "<img" not in render_html(body, company, "Other", "https://w.example")


async def test_details_of_a_posting_are_checked_and_logged(tx: Tx) -> None:
    opening = await make_opening(tx, remote=True)
    details = PostingDetails(
        "FULL_TIME", Decimal(45_000), None, "eur", "YEAR", ["Germany ", "", "Germany", "France"]
    )
    await posting_details.save_details(tx, opening.id, details, LOCAL)
    saved = await posting_details.get_details(tx, opening.id)
    assert posting_details.format_pay(saved) == "EUR 45,000 per year"
    assert saved.countries == ["Germany", "France"]
    await posting_details.save_details(tx, opening.id, saved, LOCAL)
    log = await events.find_by_opening(tx, opening.id, after=opening.last_seq)
    assert [(event.type, event.metadata["pay"]) for event in log] == [
        ("EDITED", "EUR 45,000 per year")
    ]
    assert (await verification.verify_log(tx, opening.id)).faults == []
    low, high = Decimal(10), Decimal("17.5")
    for wrong in (
        PostingDetails(pay_min=high, pay_max=low, pay_currency="EUR", pay_period="HOUR"),
        PostingDetails(pay_min=low, pay_max=high, pay_currency="Euro", pay_period="HOUR"),
        PostingDetails(pay_min=low, pay_max=high, pay_currency="EUR"),
        PostingDetails(employment_type="SLAVERY"),  # pyright: ignore[reportArgumentType]
        PostingDetails(countries=["x" * 61]),
    ):
        with pytest.raises(Invalid):
            await posting_details.save_details(tx, opening.id, wrong, LOCAL)
    assert posting_details.parse_amount("1,234.5") == Decimal("1234.50")
    for text in ("1e9", "-5", "NaN", "12.345"):
        with pytest.raises(Invalid):
            posting_details.parse_amount(text)
