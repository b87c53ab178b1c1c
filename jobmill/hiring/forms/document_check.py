"""Check that an uploaded file is the PDF or DOCX that its name says, and nothing else besides.

`check_document` runs in a child process of the sandbox. Every refusal says what to do next.
"""

from __future__ import annotations

import io
import logging
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from jobmill.errors import Invalid
from jobmill.extract.document_limits import (
    MAX_PAGES,
    OLE,
    PARSE_ERRORS,
    PDF_LIMITS,
)
from jobmill.hiring.forms import docx_check

if TYPE_CHECKING:
    from pypdf import PdfReader
    from pypdf.generic import IndirectObject

CPU_SECONDS = 5.0
PDF, DOCX = ".pdf", ".docx"
MEDIA_TYPES: Mapping[str, str] = {
    PDF: "application/pdf",
    DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
MAX_OBJECTS = 50_000
MAX_NESTING = 20
TAIL = 1_024
"""Bytes at both ends of a PDF that are looked at."""

HTML = re.compile(rb"<(?:!doctype|html|script|body|svg|iframe)\b", re.IGNORECASE)
PDF_END = re.compile(rb"%%EOF[\s\0]*\Z")
ACTIONS = {"/JavaScript", "/Launch", "/ImportData", "/SubmitForm", "/Rendition", "/GoToE"}
"""What a PDF may do on its own when it is opened; links to web pages are not among them."""


def check_document(content: str | bytes, name: str) -> str:
    """The media type of a file, given by its path or its bytes; raises Invalid."""
    data = content if isinstance(content, bytes) else Path(content).read_bytes()
    suffix = PurePosixPath(name).suffix.lower()
    if not data:
        raise Invalid("The file is empty. Choose the file again, or save it again first.")
    if suffix not in MEDIA_TYPES:
        raise Invalid("Choose a PDF or Word (.docx) file. You can save other documents as PDF.")
    checks: Mapping[str, Callable[[bytes], None]] = {PDF: _check_pdf, DOCX: _check_docx}
    _check_start(data, suffix)
    try:
        checks[suffix](data)
    except PARSE_ERRORS as error:
        raise Invalid(
            "The file is damaged. Open it, save it as a new PDF, and try again."
        ) from error
    return MEDIA_TYPES[suffix]


def _check_start(data: bytes, suffix: str) -> None:
    if data.startswith(OLE):
        raise Invalid(
            "The file is protected or in an old Word format. Save it as PDF without a password."
        )
    starts = {PDF: b"%PDF-", DOCX: b"PK\x03\x04"}
    if not data.startswith(starts[suffix]):
        raise Invalid(
            f"The content is not a {suffix[1:].upper()}, although the name ends in {suffix}. "
            "Open the file, save it as PDF, and try again."
        )


def _check_pdf(data: bytes) -> None:
    import pypdf  # Imported here because it loads slowly.
    import pypdf.errors

    if not PDF_END.search(data[-TAIL:]) or HTML.search(data[:TAIL]) or _is_archive(data):
        raise Invalid(
            "The file contains something besides the PDF. Print it to a new PDF, and try again."
        )
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        with pypdf.apply_configuration(**PDF_LIMITS):
            reader = pypdf.PdfReader(io.BytesIO(data))
            if reader.is_encrypted:
                raise Invalid("The PDF is protected by a password. Save it without a password.")
            if not 1 <= len(reader.pages) <= MAX_PAGES:
                raise Invalid(
                    f"The PDF should have 1 to {MAX_PAGES} pages. Send the most important ones."
                )
            for reference in _list_objects(reader):
                _refuse_actions(reader.get_object(reference), 0)
    except pypdf.errors.PyPdfError as error:
        raise ValueError(str(error)) from error


def _is_archive(data: bytes) -> bool:
    """Whether a program that unpacks archives would find one in the file."""
    return zipfile.is_zipfile(io.BytesIO(data))


def _list_objects(reader: PdfReader) -> list[IndirectObject]:
    """All objects, also those that no page refers to.

    The objects are parsed, because names can be written in several ways and packed into streams. A search
    in the bytes would refuse a CV that mentions HTML/JavaScript.
    """
    from pypdf.generic import IndirectObject

    references = {
        (number, generation) for generation, table in reader.xref.items() for number in table
    } | {(number, 0) for number in reader.xref_objStm}
    if len(references) > MAX_OBJECTS:
        raise Invalid("The PDF is too complex. Print it to a new PDF, and try again.")
    return [IndirectObject(number, generation, reader) for number, generation in sorted(references)]


def _refuse_actions(value: Any, depth: int) -> None:
    if depth > MAX_NESTING:
        raise Invalid("The PDF is too complex. Print it to a new PDF, and try again.")
    if isinstance(value, dict):
        # Indexing resolves references to other objects.
        if ("/S" in value and value["/S"] in ACTIONS) or "/JS" in value or "/XFA" in value:
            raise Invalid(
                "The PDF contains a script or an action. Print it to a new PDF, and try again."
            )
        if "/EF" in value and not _is_data_file(value):  # pyright: ignore[reportUnknownArgumentType]
            raise Invalid(
                "The PDF contains an attached file. Print it to a new PDF, and try again."
            )
        children = list(value.values())  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType]
    else:
        children = value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]
    for child in children:  # pyright: ignore[reportUnknownVariableType]
        _refuse_actions(child, depth + 1)


def _is_data_file(attachment: Mapping[str, Any]) -> bool:
    """Whether an attached file is XML, which the CVs of Europass and invoices carry."""
    names = [str(attachment[key]) for key in ("/F", "/UF") if key in attachment]
    return bool(names) and all(name.lower().endswith(".xml") for name in names)


def _check_docx(data: bytes) -> None:
    if data[-TAIL:].rfind(b"%%EOF") >= 0 or HTML.search(data[:TAIL]):
        raise Invalid(docx_check.EXTRA_CONTENT)
    docx_check.check_archive(data)
