"""Read the data export of LinkedIn (a ZIP archive with CSV files) as a JSON Resume."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, Final

from jobmill.errors import Invalid

FILES: Final = (
    "profile", "positions", "skills", "languages", "certifications", "projects", "education",
    "email addresses", "phonenumbers",
)  # fmt: skip
"""The files that say something about the person's work; all others stay unread."""
MAX_FILE_SIZE: Final = 2_000_000
"""Bytes of one CSV file, unpacked."""
MAX_ROWS: Final = 1_000
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DATE: Final = re.compile(r"(?:\d{1,2} )?(?P<month>[A-Za-z]{3})[a-z]{0,6}\.? (?P<year>\d{4})")
URL: Final = re.compile(r"https?://[^\s,\]\[]{3,190}")

CsvRow = dict[str, str]


def is_export(archive: zipfile.ZipFile) -> bool:
    return bool({"profile", "positions"} & _parts(archive).keys())


def read_export(archive: zipfile.ZipFile, file: str) -> dict[str, Any]:
    """The export as a JSON Resume. Invalid if a file in it is too large or malformed."""
    parts = _parts(archive)
    try:
        rows = {name: _read_rows(archive, parts.get(name), file) for name in FILES}
    except csv.Error as error:
        raise Invalid(
            f"{file} has a damaged CSV file ({error}). Export your data from LinkedIn again."
        ) from error
    person = rows["profile"][0] if rows["profile"] else {}
    return {
        "basics": {
            "name": f"{person.get('first name', '')} {person.get('last name', '')}".strip(),
            "label": person.get("headline", ""),
            "summary": person.get("summary", ""),
            "email": _primary_email(rows["email addresses"]),
            "phone": rows["phonenumbers"][0].get("number", "") if rows["phonenumbers"] else "",
            "location": {
                "city": person.get("geo location", ""),
                "address": person.get("address", ""),
            },
            "profiles": [
                {"network": "Website", "url": url}
                for url in URL.findall(person.get("websites", ""))
            ],
        },
        "work": [_position(row) for row in rows["positions"]],
        "education": [_school(row) for row in rows["education"]],
        "skills": [{"name": row.get("name", "")} for row in rows["skills"]],
        "certificates": [_certificate(row) for row in rows["certifications"]],
        "languages": [
            {"language": row.get("name", ""), "fluency": row.get("proficiency", "")}
            for row in rows["languages"]
        ],
        "projects": [_project(row) for row in rows["projects"]],
    }


def _primary_email(rows: list[CsvRow]) -> str:
    primary = [row for row in rows if row.get("primary", "").casefold() == "yes"]
    return next((row.get("email address", "") for row in [*primary, *rows]), "")


def _parts(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The CSV files by name: some exports put them into a folder."""
    parts: dict[str, zipfile.ZipInfo] = {}
    for part in archive.infolist():
        path = PurePosixPath(part.filename.casefold())
        if path.suffix == ".csv" and path.stem in FILES:
            parts.setdefault(path.stem, part)
    return parts


def _read_rows(archive: zipfile.ZipFile, part: zipfile.ZipInfo | None, file: str) -> list[CsvRow]:
    if part is None:
        return []
    # zipfile never reads more of a part than its entry declares.
    if part.file_size > MAX_FILE_SIZE:
        raise Invalid(f"{file} is too large when unpacked: {part.filename[:80]}.")
    text = archive.read(part).decode("utf-8-sig", errors="replace")
    return list(islice(_clean_rows(text), MAX_ROWS))


def _clean_rows(text: str) -> Iterator[CsvRow]:
    reader = csv.reader(io.StringIO(text, newline=""))
    heads = [name.strip().casefold() for name in next(reader, list[str]())]
    for values in reader:
        yield {name: value.strip() for name, value in zip(heads, values, strict=False)}


def _position(row: CsvRow) -> dict[str, Any]:
    ended = row.get("finished on", "")
    return {
        "position": row.get("title", ""),
        "name": row.get("company name", ""),
        "location": row.get("location", ""),
        "summary": row.get("description", ""),
        "startDate": _as_iso_month(row.get("started on", "")),
        # None means that the position is held today.
        "endDate": _as_iso_month(ended) if ended else None,
    }


def _school(row: CsvRow) -> dict[str, Any]:
    return {
        "institution": row.get("school name", ""),
        "studyType": row.get("degree name", ""),
        "startDate": _as_iso_month(row.get("start date", "")),
        "endDate": _as_iso_month(row.get("end date", "")),
        "courses": [text for name in ("notes", "activities") if (text := row.get(name, ""))],
    }


def _certificate(row: CsvRow) -> dict[str, Any]:
    return {
        "name": row.get("name", ""),
        "issuer": row.get("authority", ""),
        "number": row.get("license number", ""),
        "date": _as_iso_month(row.get("started on", "")),
        "expires": _as_iso_month(row.get("finished on", "")),
    }


def _project(row: CsvRow) -> dict[str, Any]:
    return {
        "name": row.get("title", ""),
        "description": row.get("description", ""),
        "url": row.get("url", ""),
        "startDate": _as_iso_month(row.get("started on", "")),
        "endDate": _as_iso_month(row.get("finished on", "")),
    }


def _as_iso_month(text: str) -> str:
    """`Mar 2019` as 2019-03; a year alone as it is."""
    match = DATE.fullmatch(text)
    if match and match["month"].casefold() in MONTHS:
        return f"{match['year']}-{MONTHS.index(match['month'].casefold()) + 1:02}"
    return text if re.fullmatch(r"\d{4}", text) else ""
