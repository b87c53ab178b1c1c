"""The text of a resume in a PDF, DOCX or text file."""

from __future__ import annotations

import io
import logging
import re
import time
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal

from jobmill.errors import Invalid
from jobmill.extract.document_limits import (
    MAX_PAGES,
    MAX_PARTS,
    MAX_UNPACKED_SIZE,
    OLE,
    PARSE_ERRORS,
    PDF_LIMITS,
)

from .sections import section_of_heading

if TYPE_CHECKING:
    from docx.table import _Row  # pyright: ignore[reportPrivateUsage]
    from docx.text.paragraph import Paragraph
    from pypdf import PageObject

MAX_TEXT_LENGTH: Final = 300_000
"""Characters."""
MAX_LINKS: Final = 50
MAX_LINK_LENGTH: Final = 200
CELL: Final = re.compile(r"\S+(?: {1,2}\S+)*")
"""Words of one column in a line whose columns are aligned with spaces."""
MIN_COLUMN_WIDTH: Final = 12
PDF_TIMEOUT: Final = 20.0
"""Seconds for the pages of a PDF."""


def extract_text(data: bytes, form: Literal["pdf", "docx", "text"], file: str) -> str:
    readers = {"pdf": _read_pdf, "docx": _read_docx}
    text = readers[form](data, file) if form in readers else _decode(data, file)
    if len(text) > MAX_TEXT_LENGTH:
        raise Invalid(f"{file} has more than {MAX_TEXT_LENGTH:,} characters. Use the resume alone.")
    if not text.strip():
        raise Invalid(f"{file} contains no text. Convert a scan to text first.")
    return text


def _decode(data: bytes, file: str) -> str:
    if b"\x00" in data[:4_000] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Invalid(f"{file} is not a PDF, DOCX, JSON Resume, LinkedIn export or text file.")
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _read_pdf(data: bytes, file: str) -> str:
    import pypdf  # Imported here because it loads slowly and few commands need it.
    import pypdf.errors

    # pypdf warns about every oddity; only the extracted text matters.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        with pypdf.apply_configuration(**PDF_LIMITS):
            reader = pypdf.PdfReader(io.BytesIO(data))
            if reader.is_encrypted:
                raise Invalid(f"{file} is encrypted. Save it without a password.")
            if len(reader.pages) > MAX_PAGES:
                raise Invalid(f"{file} has more than {MAX_PAGES} pages. Use the resume alone.")
            text = _join(_page_texts(reader.pages, file))
            return _insert_links(text, _links_at_top(reader.pages[0]) if reader.pages else [])
    except pypdf.errors.LimitReachedError as error:
        raise Invalid(f"{file} is too large for a resume. Use a plain text version.") from error
    except (pypdf.errors.PyPdfError, *PARSE_ERRORS) as error:
        raise Invalid(
            f"{file} is a damaged PDF. Save it again, or use a plain text version."
        ) from error


def _page_texts(pages: Iterable[PageObject], file: str) -> Iterator[str]:
    ends = time.monotonic() + PDF_TIMEOUT
    for page in pages:
        if time.monotonic() > ends:
            raise Invalid(f"{file} takes too long to read. Use a plain text version.")
        yield _page_text(page)


def _page_text(page: PageObject) -> str:
    """The text in the order of the file, unless that mixes the lines of two columns."""
    from pypdf.errors import PyPdfError

    text = page.extract_text()
    try:
        columns = _split_columns(page.extract_text(extraction_mode="layout").split("\n"))
    except (PyPdfError, *PARSE_ERRORS):
        return text
    return columns if _count_headings(columns) > _count_headings(text) else text


def _split_columns(lines: Sequence[str]) -> str:
    """The left column, then the right one, which begins where most of its headings begin."""
    places = Counter(
        cell.start()
        for line in lines
        for cell in CELL.finditer(line)
        if cell.start() >= MIN_COLUMN_WIDTH and section_of_heading(cell[0])
    )
    if not places:
        return ""
    [(place, _)] = places.most_common(1)
    left: list[str] = []
    right: list[str] = []
    for line in lines:
        # A line across both columns, such as the contact details, stays whole.
        is_split = not line[place - 1 : place].strip()
        left.append((line[:place] if is_split else line).strip())
        right.append(line[place:].strip() if is_split else "")
    return "\n".join([*left, *right])


def _count_headings(text: str) -> int:
    return sum(section_of_heading(line.strip()) is not None for line in text.split("\n"))


def _links_at_top(page: PageObject) -> list[str]:
    """Web addresses behind words such as "LinkedIn" in the upper third of a page."""
    links: list[str] = []
    for annotation in (page.annotations or ())[:MAX_LINKS]:
        link = annotation.get_object()
        action, place = link.get("/A"), link.get("/Rect")
        url = str(action.get_object().get("/URI", "")) if action else ""
        if place and float(place[1]) > float(page.mediabox.top) * 2 / 3 and url.startswith("http"):
            links.append(url[:MAX_LINK_LENGTH])
    return links


def _insert_links(text: str, links: list[str]) -> str:
    """Below the first line, where contact details are."""
    first, _, rest = text.partition("\n")
    hidden = [url for url in dict.fromkeys(links) if url not in text]
    return "\n".join([first, *hidden, rest])


def _read_docx(data: bytes, file: str) -> str:
    if data.startswith(OLE):
        raise Invalid(
            f"{file} is encrypted or in an old Word format. Save it as .docx without a password."
        )
    try:
        _check_unpacked_size(data, file)
        return _join(_paragraphs(data))
    except PARSE_ERRORS as error:
        raise Invalid(
            f"{file} is a damaged DOCX. Save it again, or use a plain text version."
        ) from error


def _check_unpacked_size(data: bytes, file: str) -> None:
    # zipfile never reads more of a part than its entry declares, so the declared sizes can be
    # trusted.
    parts = zipfile.ZipFile(io.BytesIO(data)).infolist()
    if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED_SIZE:
        raise Invalid(f"{file} is too large when unpacked. Use a plain text version.")


def _paragraphs(data: bytes) -> Iterator[str]:
    import docx  # See above.
    from docx.table import Table

    for block in docx.Document(io.BytesIO(data)).iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                yield _row_text(row)
        else:
            yield _paragraph_text(block)


def _row_text(row: _Row) -> str:
    """The cells on one line; cells with many lines, such as columns of a page, one after another."""
    cells = dict.fromkeys(
        "\n".join(map(_paragraph_text, cell.paragraphs)).strip() for cell in row.cells
    )
    is_layout = sum(cell.count("\n") > 2 for cell in cells) > 1
    return ("\n" if is_layout else " | ").join(cells)


def _paragraph_text(paragraph: Paragraph) -> str:
    """The text as a reader sees it. Word does not store the bullets of a list as text, and a link
    such as "LinkedIn" hides its address."""
    style = paragraph.style
    is_item = bool(paragraph.paragraph_format.element.xpath("./w:pPr/w:numPr"))
    if (is_item or (style and (style.name or "").startswith("List"))) and paragraph.text.strip():
        return f"\u2022 {paragraph.text}"
    addresses = [link.address for link in paragraph.hyperlinks]
    hidden = [url for url in addresses if url.startswith("http") and url not in paragraph.text]
    return "\t".join([paragraph.text, *hidden])


def _join(parts: Iterator[str]) -> str:
    """Join the lines, stopping once the text is too long."""
    text: list[str] = []
    length = 0
    for part in parts:
        text.append(part)
        length += len(part)
        if length > MAX_TEXT_LENGTH:
            break
    return "\n".join(text)
