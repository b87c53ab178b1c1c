"""Resumes to read, in several formats."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import docx
import pypdf

TEXT = """\
Dana Pell
Senior Software Engineer | Porto
dana@example.net

PROFESSIONAL SUMMARY
Backend engineer with 12+ years of experience
building water systems.

Technical Skills:
Python (8 years), Go, C++, PostgreSQL, Kubernetes

EXPERIENCE
Staff Engineer, Wells & Co - 2019 to 2024
- Cut pump downtime by 40%
  with a new scheduler
- Led 3 years of Terraform work
Software Developer at Brine Ltd (2012 - 2019)
* Wrote the JavaScript front end

Projects
- tinypump: a simulator

Awards
- Best Pump 2020

Education
BSc in Hydrology
"""

JSON_RESUME: dict[str, Any] = {
    "basics": {
        "name": "Dana Pell",
        "label": "Staff Engineer",
        "summary": "Keeps water running.",
        "location": {"city": "Porto", "region": "PT-13"},
    },
    "work": [
        {
            "name": "Wells & Co",
            "position": "Senior Engineer",
            "highlights": ["Cut downtime by 40% with 5 years of Rust"],
        }
    ],
    "skills": [
        {"name": "Backend", "level": "Master", "keywords": ["golang", "Postgres", "Well digging"]},
        {"name": "Python"},
    ],
    "projects": [{"name": "tinypump", "description": "a simulator"}],
    "awards": [{"title": "Best Pump"}],
}


def json_resume(**changed: Any) -> bytes:
    return json.dumps(JSON_RESUME | changed).encode()


def pdf(lines: Sequence[str], pages: int = 1) -> bytes:
    """A PDF with these lines on every page."""
    shown = " ".join(f"({_escaped(line)}) Tj T*" for line in lines)
    return pdf_of(f"BT /F1 11 Tf 14 TL 50 780 Td {shown} ET".encode("latin-1"), pages)


def pdf_of(drawing: bytes, pages: int = 1) -> bytes:
    """A PDF with these operators on every page."""
    stream = zlib.compress(drawing)
    kids = " ".join(f"{5 + number} 0 R" for number in range(pages))
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 3 0 R >> >> >>"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Filter /FlateDecode /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream),
        *[page] * pages,
    ]
    return _assembled(objects)


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _assembled(objects: list[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return bytes(out) + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        size,
        table,
    )


def encrypted_pdf() -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(["secret"])))
    writer.encrypt("password", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def word(text: str = TEXT, table: Sequence[str] = ()) -> bytes:
    document = docx.Document()
    for line in text.splitlines():
        document.add_paragraph(line)
    if table:
        cells = document.add_table(rows=1, cols=len(table)).rows[0].cells
        for cell, content in zip(cells, table, strict=True):
            cell.text = content
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def word_with(name: str, content: bytes) -> bytes:
    """A DOCX with one part replaced."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(word())) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for part in source.namelist():
            target.writestr(part, content if part == name else source.read(part))
        if name not in source.namelist():
            target.writestr(name, content)
    return out.getvalue()
