"""Turn a document into a file or into pictures of its pages, in a child process with limits."""

from __future__ import annotations

from typing import NamedTuple

from jobmill.plain_text import clean_file_name
from jobmill.sandbox import read_untrusted

from . import pdf_file, text_file, word_file
from .document import ApplicationDocument, printed_header
from .drafting import CPU_SECONDS
from .store import DocumentFormat


class RenderedFile(NamedTuple):
    data: bytes
    pages: int
    """0 for files without pages."""
    unprintable: str = ""


async def render_file(document: ApplicationDocument, format: DocumentFormat) -> RenderedFile:
    """The document as a file, made in a child process with limits."""
    return await read_untrusted(_render, document, format, cpu_seconds=CPU_SECONDS)


def _render(document: ApplicationDocument, format: DocumentFormat) -> RenderedFile:
    if format == "pdf":
        typeset = pdf_file.write_pdf(document)
        return RenderedFile(typeset.data, typeset.pages, typeset.unprintable)
    if format == "docx":
        return RenderedFile(word_file.write_word(document), 0)
    return RenderedFile(text_file.write_text(document).encode(), 0)


async def draw_pages(document: ApplicationDocument) -> list[bytes]:
    """The pages as PNG images, made in a child process."""
    return await read_untrusted(pdf_file.draw_pages, document, cpu_seconds=CPU_SECONDS)


def file_name(document: ApplicationDocument, company: str | None, format: DocumentFormat) -> str:
    """`Maria Santos - Resume - Cedar Clinic.pdf`"""
    kind = "Resume" if document.kind == "resume" else "Cover letter"
    name = " - ".join(filter(None, (printed_header(document).name, kind, company)))
    return clean_file_name(f"{name[:100]}.{format}")
