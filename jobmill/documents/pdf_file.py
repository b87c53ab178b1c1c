"""Typeset a document as PDF. The same document gives the same bytes on every machine."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from .document import ApplicationDocument, printed_header, printed_sections
from .text_file import write_text

FOLDER = Path(__file__).parent
IMAGE_PPI = 96.0
UNPRINTABLE_SHOWN = 20


@dataclass(frozen=True, slots=True)
class TypesetPdf:
    data: bytes
    pages: int
    unprintable: str
    """Characters of the document for which no font has a glyph."""


def write_pdf(document: ApplicationDocument) -> TypesetPdf:
    """Typeset a document. System fonts are used only for characters that the bundled ones lack."""
    typeset = _check(document, _compile(document, "pdf"))
    if not typeset.unprintable:
        return typeset
    return _check(document, _compile(document, "pdf", system_fonts=True))


def draw_pages(document: ApplicationDocument) -> list[bytes]:
    """The pages as PNG images."""
    images: bytes | list[bytes] = _compile(document, "png")
    return [images] if isinstance(images, bytes) else images


def count_pages(document: ApplicationDocument) -> int:
    import pypdf  # Loads slowly, and few processes need it.

    return len(pypdf.PdfReader(io.BytesIO(_compile(document, "pdf"))).pages)


def _check(document: ApplicationDocument, data: bytes) -> TypesetPdf:
    import pypdf

    pages = pypdf.PdfReader(io.BytesIO(data)).pages
    printed = set("".join(page.extract_text() for page in pages).lower())
    wanted = {sign for sign in write_text(document).lower() if not sign.isspace()}
    missing = "".join(sorted(wanted - printed)[:UNPRINTABLE_SHOWN])
    return TypesetPdf(data, len(pages), missing)


def _compile(
    document: ApplicationDocument, format: Literal["pdf", "png"], *, system_fonts: bool = False
) -> Any:
    import typst

    return typst.compile(
        (FOLDER / "templates" / "document.typ").read_bytes(),
        font_paths=_fonts(system_fonts=system_fonts),
        format=format,
        ppi=IMAGE_PPI,
        sys_inputs={"data": json.dumps(_typst_data(document))},
        # Typst would otherwise write the time into the file.
        timestamp=0,
    )


@cache
def _fonts(*, system_fonts: bool) -> Any:
    import typst

    return typst.Fonts(include_system_fonts=system_fonts, font_paths=[str(FOLDER / "fonts")])


def _typst_data(document: ApplicationDocument) -> dict[str, Any]:
    header = printed_header(document)
    title = "Resume" if document.kind == "resume" else "Cover letter"
    return {
        "title": f"{title} {header.name}".strip(),
        "kind": document.kind,
        "template": document.template,
        "paper": document.paper,
        "header": asdict(header),
        "sections": [asdict(section) for section in printed_sections(document)],
    }
