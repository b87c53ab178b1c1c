"""Read a resume into a draft profile, taking only what the resume states explicitly."""

from __future__ import annotations

import datetime as dt
import io
import json
import zipfile
from typing import Any

from jobmill.errors import Invalid
from jobmill.extract.document_limits import MAX_PARTS, OLE, PARSE_ERRORS

from . import json_resume, linkedin_export, pdf_and_word_text, text_resume
from .draft import Format, ParsedResume, find_missing_fields

__all__ = ["MAX_FILE_SIZE", "Format", "ParsedResume", "detect_format", "read_resume"]

MAX_FILE_SIZE = 10_000_000
"""Bytes of a file."""
NOTHING_FOUND = (
    "Nothing was found in {file}: no job title, no skills and no dated employment. Use the full "
    "text of a resume, or fill in the profile by hand."
)


def detect_format(data: bytes) -> Format | None:
    """Detect the file format; None for plain text."""
    if data.lstrip()[:5] == b"%PDF-":
        return "pdf"
    if data[:4] == b"PK\x03\x04" or data.startswith(OLE):
        return "linkedin" if _is_linkedin_export(data) else "docx"
    return "json-resume" if _is_json_resume(data) else None


def _is_json_resume(data: bytes) -> bool:
    if not data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") or len(data) > MAX_FILE_SIZE:
        return False
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and bool({"basics", "work", "education"} & document.keys())  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportUnknownArgumentType]


def _is_linkedin_export(data: bytes) -> bool:
    try:
        return linkedin_export.is_export(zipfile.ZipFile(io.BytesIO(data)))
    except PARSE_ERRORS:
        return False


def read_resume(data: bytes, file: str, *, today: dt.date | None = None) -> ParsedResume:
    """Read a resume into a draft profile. Invalid, with advice, if the file cannot be read or
    contains nothing usable."""
    today = today or dt.datetime.now(dt.UTC).date()
    if len(data) > MAX_FILE_SIZE:
        raise Invalid(
            f"{file} is larger than {MAX_FILE_SIZE // 10**6} MB. Use a plain text version."
        )
    form = detect_format(data) or "text"
    if form == "json-resume":
        profile = json_resume.read_json_resume(json.loads(data), today)
    elif form == "linkedin":
        profile = json_resume.read_json_resume(_read_linkedin(data, file), today)
    else:
        profile = text_resume.read_text_resume(
            pdf_and_word_text.extract_text(data, form, file), today
        )
    if not profile.model_fields_set:
        raise Invalid(NOTHING_FOUND.format(file=file))
    return ParsedResume(form, profile, tuple(find_missing_fields(profile)))


def _read_linkedin(data: bytes, file: str) -> dict[str, Any]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        if len(archive.infolist()) > MAX_PARTS:
            raise Invalid(f"{file} is too large when unpacked: it has too many files.")
        return linkedin_export.read_export(archive, file)
    except PARSE_ERRORS as error:
        raise Invalid(f"{file} is damaged. Export your data from LinkedIn again.") from error
