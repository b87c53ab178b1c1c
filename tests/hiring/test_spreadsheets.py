"""Tests of reading and writing spreadsheets of applicants and openings."""

from __future__ import annotations

import asyncio
import csv
import datetime as dt
import io
from typing import Any

import pytest

from jobmill.catalog import csv_files
from jobmill.db import Database, Tx
from jobmill.errors import Invalid
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import withdrawals
from jobmill.hiring.import_export import exports, imports, spreadsheets
from jobmill.hiring.import_export.imports import ImportedApplicant
from jobmill.hiring.import_export.spreadsheets import ApplicantEntry, InvalidSpreadsheet
from jobmill.hiring.records import applicants, blocklist, openings
from jobmill.hiring.records.openings import Opening
from tests.hiring.helpers import apply, make_applicant, make_opening


def sheet(*people: str) -> list[ApplicantEntry]:
    return spreadsheets.parse_applicants("\n".join(["name,email", *people]).encode())


async def many(tx: Tx, opening: Opening) -> int:
    cursor = await tx.execute(
        "SELECT count(*) FROM hiring.application WHERE opening_id = %s", [opening.id]
    )
    (count,) = await cursor.fetchone() or (0,)
    return count


def list_outcomes(done: list[ImportedApplicant]) -> list[tuple[int, str, str | None, int | None]]:
    return [
        (imported.line, imported.outcome, imported.status, imported.position) for imported in done
    ]


@pytest.mark.parametrize("risky", ["=1+1", "+49 1", "-2", "@SUM(A1)", "\tx", "\rx", "＝1"])  # noqa: RUF001
def test_no_cell_is_a_formula_and_all_are_read_back_unchanged(risky: str) -> None:
    out = io.StringIO(newline="")
    add = csv_files.start_csv(out, ["name", "count"])
    add({"name": risky, "count": -3, "else": "left out"})
    assert list(csv.reader(io.StringIO(out.getvalue(), newline=""))) == [
        ["name", "count"],
        [f"'{risky}", "-3"],
    ]
    (row,) = csv_files.parse_csv(out.getvalue().encode(), needed=["name"])
    assert row.cells["name"].strip() == risky.strip()


@pytest.mark.parametrize("separator", [";", ",", "\t", "|", "; "])
def test_no_part_of_a_cell_is_a_formula_for_another_separator(separator: str) -> None:
    out = io.StringIO(newline="")
    name = f"Ada{separator}=1+1"
    csv_files.start_csv(out, ["name"])({"name": name})
    assert f"{separator}=" not in out.getvalue()
    (row,) = csv_files.parse_csv(out.getvalue().encode(), needed=["name"])
    assert row.cells["name"] == name


def test_cells_are_quoted_as_in_rfc_4180() -> None:
    out = io.StringIO(newline="")
    csv_files.start_csv(out, ["a", "b"])({"a": 'say "hi", twice', "b": "two\nlines"})
    assert out.getvalue() == 'a,b\r\n"say ""hi"", twice","two\nlines"\r\n'


@pytest.mark.parametrize(
    "text",
    [
        "name,email\nAda,ada@example.org\nBen,ben@example.org\n",
        "\ufeffName , E-Mail,EMAIL\r\nAda,,ada@example.org\r\n\r\n ,,\r\nBen,,ben@example.org",
        "email;name;note\nada@example.org;Ada\nben@example.org;Ben;x\n",
        "name\temail\nAda\tada@example.org\nBen\tben@example.org\n",
        "name,email,order\nBen,ben@example.org,20\nAda,ada@example.org,3\n",
    ],
)
def test_applicants_are_read_from_all_common_spreadsheet_formats(text: str) -> None:
    entries = spreadsheets.parse_applicants(text.encode())
    assert [(entry.contact.name, entry.contact.email) for entry in entries] == [
        ("Ada", "ada@example.org"),
        ("Ben", "ben@example.org"),
    ]


def test_a_repeated_address_counts_once() -> None:
    entries = sheet("Ada,ada@example.org", "Ben,ben@example.org", "A.,ADA@Example.org")
    assert [(entry.line, entry.repeats) for entry in entries] == [(2, None), (3, None), (4, 2)]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "row 1: the header needs these columns: name, email"),
        (b"Ada,ada@example.org\n", "row 1: the header"),
        (b"name,email,NAME\n", "row 1: the header has the column `name` twice"),
        (b"name,email\n,a@b.org\nAda,x\n", "row 2: The name .*; row 3: The email"),
        (b"name,email\nAda,a@b.org,1\n", "row 2: 3 cells, but only 2 columns"),
        (b'name,email\n"A\nB",a@b.org\nx,y\n', "row 3: The email"),
        (b'name,email\n"Ada,a@b.org\n', "row 2: not CSV"),
        (b"name,email\n" + b"a" * 140_000 + b",a@b.org\n", "row 2: not CSV: field larger"),
        (b"name,email,order\nAda,a@b.org,soon\n", "row 2: `order` should be a number"),
        ("name,email\nAda,a@b.org\nJosé,j@b.org\n".encode("latin-1"), "row 3: not UTF-8"),
        ("name,email\n".encode("utf-16"), "UTF-16"),
        (b"name,email\nA\0,a@b.org\n", "row 2: contains a zero byte"),
        (b"x" * (csv_files.MAX_BYTES + 1), "32 MB"),
        (b"name,email\n" + b"A\n" * (csv_files.MAX_LINES + 1), "100,000 rows"),
    ],
)
def test_invalid_lines_are_named(data: bytes, says: str) -> None:
    with pytest.raises(Invalid, match=says):
        spreadsheets.parse_applicants(data)


def test_only_the_first_invalid_lines_are_named() -> None:
    with pytest.raises(InvalidSpreadsheet, match=r"row 21: .*; and 30 more$") as caught:
        sheet(*["Ada,nowhere"] * 50)
    assert len(caught.value.problems) == 50


async def test_people_apply_in_the_order_of_the_file(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    entries = sheet(
        "Zoe,zoe@a.example", "Ada,ada@a.example", "Zoe,ZOE@a.example", "Ben,ben@a.example"
    )
    done = await imports.import_applicants(tx, opening.id, entries, LOCAL)
    assert list_outcomes(done) == [
        (2, "applied", "ACTIVE", None),
        (3, "applied", "WAITLIST", 1),
        (4, "repeated", None, None),
        (5, "applied", "WAITLIST", 2),
    ]
    assert done[2].detail == "row 2 has the same address"


async def test_the_same_file_can_be_imported_again(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    entries = sheet("Ada,ada@a.example", "Ben,ben@a.example")
    await imports.import_applicants(tx, opening.id, entries[:1], LOCAL)
    done = await imports.import_applicants(tx, opening.id, entries, LOCAL)
    assert [imported.outcome for imported in done] == ["known", "applied"]
    before = await openings.get(tx, opening.id)
    again = await imports.import_applicants(tx, opening.id, entries, LOCAL)
    assert [imported.outcome for imported in again] == ["known", "known"]
    assert await openings.get(tx, opening.id) == before


async def test_a_refused_entry_leaves_nothing_and_does_not_stop_the_others(tx: Tx) -> None:
    opening = await make_opening(tx, 1, waitlist_limit=1)
    await blocklist.add(tx, "@evil.example", "spam")
    ada = await make_applicant(tx, "Ada")
    await apply(tx, opening, ada.id)
    entries = sheet(
        "Eve,eve@evil.example", "Ben,ben@a.example", "Cy,cy@a.example", f"Ada,{ada.email}"
    )
    done = await imports.import_applicants(tx, opening.id, entries, LOCAL)
    assert list_outcomes(done) == [
        (2, "refused", None, None),
        (3, "applied", "WAITLIST", 1),
        (4, "refused", None, None),
        (5, "known", None, None),
    ]
    assert "not accepted" in (done[0].detail or "")
    assert "waitlist is full" in (done[2].detail or "")
    assert await applicants.find_by_email_key(tx, "ben@a.example")
    assert await applicants.find_by_email_key(tx, "cy@a.example") is None
    assert await applicants.find_by_email_key(tx, "eve@evil.example") is None
    assert await many(tx, opening) == 2


async def test_two_files_with_the_same_people_can_be_imported_at_once(database: Database) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 3)
    people = [f"P{number},p{number}@a.example" for number in range(20)]

    async def admit(entries: list[ApplicantEntry]) -> list[ImportedApplicant]:
        async with database.transaction() as tx:
            return await imports.import_applicants(tx, opening.id, entries, LOCAL)

    both = await asyncio.gather(admit(sheet(*people)), admit(sheet(*reversed(people))))
    outcomes = sorted(imported.outcome for done in both for imported in done)
    assert outcomes == ["applied"] * 20 + ["known"] * 20


CSV = """title,Capacity,acknowledgeWindowSeconds,remote,applyUntil,waitlistLimit,employer
Baker,2,600,true,2030-01-02T03:04:05Z,0,Wells
Cook,1,,,,,
"""


def test_openings_are_read_from_a_file() -> None:
    baker, cook = imports.parse_openings(CSV.encode())
    assert (baker.terms.title, baker.capacity, baker.terms.remote) == ("Baker", 2, True)
    assert baker.terms.acknowledge_window == dt.timedelta(minutes=10)
    assert baker.terms.apply_until == dt.datetime(2030, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    assert (baker.terms.waitlist_limit, baker.terms.employer) == (0, "Wells")
    assert cook.terms == openings.OpeningTerms("Cook")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title,capacity\nBaker,0\nCook,many\n", "row 2: capacity: .*; row 3: capacity: "),
        ("title,capacity,colour\nBaker,1,red\nCook,1,blue\n", "^row 2: unknown column `colour`"),
        ("title,capacity,applyUntil\nBaker,1,2030-01-01T00:00\n", "row 2: applyUntil: .*timezone"),
        # Later than the latest time that the driver can read back.
        (
            "title,capacity,applyUntil\nBaker,1,9999-12-31T23:59:59-05:00\n",
            "row 2: The application deadline",
        ),
        (
            "title,capacity,applyUntil\nBaker,1,0001-01-01T00:00:00+05:00\n",
            "row 2: The application deadline",
        ),
        ("title,capacity,remote\nBaker,1,perhaps\n", "row 2: remote: "),
        ("title,capacity,maxMissed\nBaker,1,0\n", "row 2: The number of missed offers"),
        ('{"title": "Baker"}\n', "row 1: capacity: Field required"),
        ('{"title": "Baker", "capacity": 1}\n[1]\n{"title"\n', "row 2: not JSON|row 2: not an"),
        ('{"title": 7, "capacity": 1}', "row 1: title: "),
    ],
)
def test_invalid_openings_are_named_by_line(text: str, says: str) -> None:
    with pytest.raises(InvalidSpreadsheet, match=says):
        imports.parse_openings(text.encode())


async def test_exported_openings_can_be_imported(tx: Tx) -> None:
    made = await imports.create_openings(tx, imports.parse_openings(CSV.encode()), LOCAL)
    await apply(tx, made[1])
    out = io.StringIO(newline="")
    add = csv_files.start_csv(out, exports.OPENING_FIELDS)
    written: list[Any] = [
        exports.opening_fields(await openings.get(tx, opening.id)) for opening in made
    ]
    for row in written:
        add(row)
    assert (written[1]["activeCount"], written[0]["acknowledgeWindowSeconds"]) == (1, 600)
    again = imports.parse_openings(out.getvalue().encode())
    first = imports.parse_openings(CSV.encode())
    assert [(planned.terms, planned.capacity) for planned in again] == [
        (planned.terms, planned.capacity) for planned in first
    ]


async def test_applications_are_exported_in_order(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    ids = [(await apply(tx, opening)).application.id for _ in range(4)]
    await withdrawals.withdraw(tx, ids[2], LOCAL)
    rows = [row async for row in exports.iter_applications(tx, opening.id)]
    assert [(row["applicationId"], row["status"], row["queuePosition"]) for row in rows] == [
        (ids[0], "ACTIVE", None),
        (ids[1], "WAITLIST", 1),
        (ids[3], "WAITLIST", 2),
        (ids[2], "INACTIVE", None),
    ]
    assert list(rows[0]) == list(exports.APPLICATION_FIELDS)
    assert rows[0]["appliedAt"].endswith("Z")
