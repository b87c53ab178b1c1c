"""Write a document as DOCX: one column, real headings and lists, no tables or text boxes."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .document import (
    ApplicationDocument,
    Paper,
    PrintedEntry,
    PrintedSection,
    Template,
    printed_header,
    printed_sections,
)

if TYPE_CHECKING:
    from docx.document import Document

EPOCH = dt.datetime(2020, 1, 1)  # noqa: DTZ001 - The file format has no time zone.
"""All times in a file, so that the same document gives the same bytes."""


@dataclass(frozen=True, slots=True)
class _WordStyle:
    font: str
    points: float
    margin_cm: float
    color: str
    is_centered: bool
    has_rules: bool
    """A line below the heading of each section."""


STYLES: dict[Template, _WordStyle] = {
    "classic": _WordStyle("Cambria", 10.5, 2.0, "000000", True, True),
    "modern": _WordStyle("Calibri", 10.0, 1.9, "1F4E79", False, False),
    "compact": _WordStyle("Cambria", 9.5, 1.5, "000000", False, True),
}
PAPER_MM: dict[Paper, tuple[float, float]] = {"a4": (210, 297), "us-letter": (215.9, 279.4)}


def write_word(document: ApplicationDocument) -> bytes:
    import docx  # Loads slowly, and few processes need it.
    from docx.shared import Pt

    word = docx.Document()
    style = STYLES[document.template]
    _set_page(word, document.paper, style)
    _set_fonts(word, style)
    _set_properties(word, document)
    _write_header(word, document, style)
    for section in printed_sections(document):
        if section.heading:
            word.add_heading(section.heading, 1)
        elif document.kind == "letter" and word.paragraphs:
            # Between the header, the recipient, the body and the closing.
            word.paragraphs[-1].paragraph_format.space_after = Pt(style.points * 2)
        for entry in section.entries:
            _write_entry(word, section, entry)
    file = io.BytesIO()
    word.save(file)
    return _with_fixed_times(file.getvalue())


def _set_page(word: Document, paper: Paper, style: _WordStyle) -> None:
    from docx.shared import Cm, Mm

    page = word.sections[0]
    page.page_width, page.page_height = (Mm(size) for size in PAPER_MM[paper])
    page.left_margin = page.right_margin = Cm(style.margin_cm)
    page.top_margin = page.bottom_margin = Cm(style.margin_cm)


def _set_fonts(word: Document, style: _WordStyle) -> None:
    from docx.shared import Pt, RGBColor

    sizes = {
        "Normal": (style.points, 2.0, 0.0),
        "List Bullet": (style.points, 1.0, 0.0),
        "Title": (style.points * 1.9, 4.0, 0.0),
        "Heading 1": (style.points * 1.15, 4.0, 12.0),
        "Heading 2": (style.points, 2.0, 7.0),
    }
    for name, (points, after, before) in sizes.items():
        named: Any = word.styles[name]
        _use_font(named, style.font)
        named.font.size = Pt(points)
        named.paragraph_format.space_after = Pt(after)
        named.paragraph_format.space_before = Pt(before)
        if name not in ("Normal", "List Bullet"):
            color = style.color if name != "Heading 2" else "000000"
            named.font.color.rgb = RGBColor.from_string(color)
            named.font.bold = True
            named.paragraph_format.keep_with_next = True
        # The title of the default template has a blue line below.
        for border in named.element.xpath("./w:pPr/w:pBdr"):
            border.getparent().remove(border)
    if style.has_rules:
        _add_rule(word.styles["Heading 1"], style.color)


def _add_rule(named: Any, color: str) -> None:
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    borders = parse_xml(
        f"<w:pBdr {nsdecls('w')}>"
        f'<w:bottom w:val="single" w:sz="4" w:space="1" w:color="{color}"/></w:pBdr>'
    )
    # The file format prescribes the order.
    named.element.get_or_add_pPr().insert_element_before(
        borders, "w:shd", "w:tabs", "w:spacing", "w:ind", "w:jc", "w:outlineLvl"
    )


def _use_font(named: Any, font: str) -> None:
    """Also in place of the theme font that headings of the default template name."""
    fonts = named.element.get_or_add_rPr().get_or_add_rFonts()
    for attribute in list(fonts.attrib):
        del fonts.attrib[attribute]
    for attribute in ("ascii", "hAnsi", "cs", "eastAsia"):
        fonts.set(f"{{{fonts.nsmap['w']}}}{attribute}", font)


def _set_properties(word: Document, document: ApplicationDocument) -> None:
    properties = word.core_properties
    name = printed_header(document).name
    properties.title = f"{'Resume' if document.kind == 'resume' else 'Cover letter'} {name}".strip()
    properties.author = name
    properties.comments = ""
    properties.created = properties.modified = EPOCH


def _write_header(word: Document, document: ApplicationDocument, style: _WordStyle) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    header = printed_header(document)
    paragraphs = [word.add_heading(header.name, 0)] if header.name else []
    if header.headline:
        paragraphs.append(word.add_paragraph())
        paragraphs[-1].add_run(header.headline).bold = True
    if header.contact:
        paragraphs.append(word.add_paragraph(" | ".join(header.contact)))
    for paragraph in paragraphs:
        if style.is_centered:
            paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER


def _write_entry(word: Document, section: PrintedSection, entry: PrintedEntry) -> None:
    if entry.heading:
        _write_entry_heading(word, entry)
    if section.layout == "list":
        word.add_paragraph(", ".join(entry.lines))
    elif section.layout == "letter":
        paragraph = word.add_paragraph(" ".join(entry.lines))
        paragraph.paragraph_format.space_after = 114_300  # 9 points
    else:
        for line in entry.lines:
            word.add_paragraph(line, "List Bullet" if section.layout == "bullets" else None)


def _write_entry_heading(word: Document, entry: PrintedEntry) -> None:
    heading = word.add_heading(entry.heading, 2)
    heading.paragraph_format.keep_with_next = bool(entry.lines)
    if entry.dates:
        heading.add_run(f" | {entry.dates}").bold = False


def _with_fixed_times(data: bytes) -> bytes:
    """The same archive with fixed times of its parts."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.infolist():
            fixed = zipfile.ZipInfo(part.filename, EPOCH.timetuple()[:6])
            fixed.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(fixed, old.read(part))
    return file.getvalue()
