"""Uploaded documents are what their names say, and nothing besides."""

from __future__ import annotations

import pytest

from jobmill.errors import Invalid
from jobmill.hiring.forms.document_check import MEDIA_TYPES, check_document
from jobmill.sandbox import read_untrusted
from tests.hiring.forms.documents import (
    GOOD_DOCX,
    GOOD_PDF,
    hostile_files,
    large_pdf,
    pdf_with,
    usual_docx,
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("CV.PDF", GOOD_PDF),
        ("cv.docx", GOOD_DOCX),
        ("word.docx", usual_docx()),
        ("links.pdf", pdf_with(b"<</S/URI/URI(https://example.org)>>")),
        ("europass.pdf", pdf_with(b"<</F(cv.xml)/EF<</F 4 0 R>>>>")),
        ("scan.pdf", large_pdf(2_000_000)),
    ],
)
def test_usual_documents_are_accepted(name: str, content: bytes) -> None:
    assert check_document(content, name) == MEDIA_TYPES[name[name.index(".") :].lower()]


async def test_hostile_files_are_refused_with_what_to_do() -> None:
    for what, name, make, words in hostile_files():
        with pytest.raises(Invalid) as refusal:
            await read_untrusted(check_document, make(), name)
        assert words in str(refusal.value), f"{what}: {refusal.value}"
        # Each message ends with what the applicant can do.
        assert str(refusal.value).count(". ") >= 1, what
