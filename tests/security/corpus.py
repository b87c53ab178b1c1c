"""Hostile documents, built on demand: each is small to send and would be expensive to read.

`DOCUMENTS` maps a name to its kind (which reader gets it) and a function that builds its bytes.
"""

from __future__ import annotations

import io
import itertools
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

DocumentKind = Literal["page", "board", "feed", "resume", "table"]
MANY = 100_000
POSTING = '"@type":"JobPosting","title":"Engineer","description":"x"'


@dataclass(frozen=True, slots=True)
class HostileDocument:
    kind: DocumentKind
    build: Callable[[], bytes]
    suffix: str = ""
    """The file name's ending, for uploads."""


def page(html: str) -> bytes:
    return f"<html><head><title>Engineer</title></head><body>{html}</body></html>".encode()


def json_ld(text: str) -> bytes:
    return page(f"<script type='application/ld+json'>{text}</script>")


def nuxt_references(keys: int) -> bytes:
    """Each object refers to the next one twice: 2^keys when expanded."""
    state = [{"title": 1, "description": 1, "a": n + 1, "b": n + 1} for n in range(keys)]
    data = json.dumps([*state, "JobPosting title description"])
    return page(f'<script type="application/json" id="__NUXT_DATA__">{data}</script>')


def greenhouse(jobs: list[dict[str, object]]) -> bytes:
    return json.dumps({"jobs": jobs, "meta": {"total": len(jobs)}}).encode()


def job(content: str, **more: object) -> dict[str, object]:
    return {
        "id": 1,
        "title": "Engineer",
        "absolute_url": "https://boards.example/1",
        "location": {"name": "Berlin"},
        "content": content,
        "updated_at": "2026-01-01T00:00:00Z",
        **more,
    }


def entities(depth: int, width: int) -> str:
    """Entities that expand to width^depth characters."""
    names = [f"e{n}" for n in range(depth)]
    lines = ['<!ENTITY e0 "aaaaaaaaaa">']
    lines += [
        f'<!ENTITY {name} "{f"&{before};" * width}">' for before, name in itertools.pairwise(names)
    ]
    return f"<?xml version='1.0'?><!DOCTYPE r [{''.join(lines)}]>"


def rss(items: str, head: str = "<?xml version='1.0'?>", title: str = "Jobs") -> bytes:
    return (
        f"{head}<rss version='2.0'><channel><title>{title}</title>{items}</channel></rss>".encode()
    )


def item(description: str) -> str:
    return f"<item><title>Engineer</title><link>https://x.example/1</link><description>{description}</description></item>"


def docx(document: bytes, extra: dict[str, bytes] | None = None) -> bytes:
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
    )
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
    )
    parts = {
        "[Content_Types].xml": types.encode(),
        "_rels/.rels": relations.encode(),
        "word/document.xml": document,
        **(extra or {}),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in parts.items():
            archive.writestr(name, body)
    return file.getvalue()


def word(body: str) -> bytes:
    namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    return f'<w:document xmlns:w="{namespace}"><w:body>{body}</w:body></w:document>'.encode()


PARAGRAPH = "<w:p><w:r><w:t>Engineer</w:t></w:r></w:p>"


def pdf(objects: list[bytes]) -> bytes:
    """A PDF of these objects; the first is the catalog."""
    file = io.BytesIO(b"")
    file.write(b"%PDF-1.7\n")
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(file.tell())
        file.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = file.tell()
    file.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    file.writelines(b"%010d 00000 n \n" % offset for offset in offsets)
    file.write(
        b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    )
    return file.getvalue()


CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
PAGE = (
    b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"
)
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def pdf_with_content(content: bytes, filters: bytes = b"/FlateDecode") -> bytes:
    stream = b"<</Length %d/Filter %s>>stream\n%s\nendstream" % (len(content), filters, content)
    return pdf([CATALOG, b"<</Type/Pages/Kids[3 0 R]/Count 1>>", PAGE, stream, FONT])


def zip_bomb(size: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("bomb.txt", b"\0" * size)
    return file.getvalue()


def png(width: int, height: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 10**6))
        + chunk(b"IEND", b"")
    )


def pages() -> Iterator[tuple[str, Callable[[], bytes]]]:
    yield "10 nested NUXT references", lambda: nuxt_references(10)
    yield "40 nested NUXT references", lambda: nuxt_references(40)
    for tag in ("rt", "rp", "rb", "rtc", "ruby", "div", "font", "a", "b", "nobr", "button", "table", "td", "select", "option",
                "svg", "math", "template", "li", "dd", "form", "center", "frameset", "p", "h1"):  # fmt: skip
        yield f"nested <{tag}>", lambda tag=tag: page(f"<{tag}>" * 80_000)
    yield (
        "formatting elements that are reopened",
        lambda: page("<a><b><i><u>" * 5_000 + "<p>" * 20_000),
    )
    yield (
        "nested microdata",
        lambda: page(
            "<div itemscope itemtype='https://schema.org/JobPosting' itemprop=description>x" * 1_400
        ),
    )
    yield "nested RDFa", lambda: page("<div typeof=JobPosting property=description>x" * 1_400)
    yield (
        "125,000 attributes",
        lambda: page("<div " + " ".join(f"a{n}=1" for n in range(125_000)) + ">x</div>"),
    )
    yield "a long attribute", lambda: page(f"<div class='{'job title ' * MANY}'>x</div>")
    yield "many headings", lambda: page("<h1>Engineer</h1>" * MANY)
    yield "many labels", lambda: page("<dt>Location</dt><dd>Berlin</dd>" * 50_000)
    yield (
        "many JSON-LD blocks",
        lambda: page(f"<script type='application/ld+json'>{{{POSTING}}}</script>" * 20_000),
    )
    yield "deep JSON-LD", lambda: json_ld(f'{{{POSTING},"x":{"[" * MANY}{"]" * MANY}}}')
    yield (
        "a large JSON-LD graph",
        lambda: json_ld(
            json.dumps(
                {"@graph": [{"@type": "JobPosting", "title": "x", "description": "y"}] * 50_000}
            )
        ),
    )
    yield (
        "JSON-LD with nested markup",
        lambda: json_ld(f'{{"@type":"JobPosting","title":"x","description":"{"<rt>" * 80_000}"}}'),
    )
    yield "character references", lambda: page("&amp;&#x10FFFF;&NotEqualTilde;" * MANY)
    yield "spaces in a label", lambda: page("<p>Location:" + " " * 2_000_000 + "x</p>")
    yield "a salary that goes on", lambda: page(f"<p>Salary: ${'1,' * MANY}000 - ${'9' * MANY}</p>")
    yield "dates that go on", lambda: page(f"<p>Posted: {'1/' * MANY}2026</p>")
    yield "years that go on", lambda: page(f"<p>{'5 or more ' * MANY} years of experience</p>")
    yield "a place that goes on", lambda: page(f"<p>Location: {'Berlin, ' * MANY}</p>")
    yield "a very long word", lambda: page(f"<p>{'a' * 3_000_000}</p>")
    yield "nothing but brackets", lambda: b"<" * 2_000_000
    yield "comments that never end", lambda: b"<!--" * 500_000
    yield "zero bytes", lambda: b"\0" * 2_000_000
    yield "a Next.js stream", lambda: page("<script>" + 'self.__next_f.push([1,"' * MANY)
    yield (
        "embedded state that never closes",
        lambda: page('<script>window.__STATE__={"title":"' * MANY),
    )


def boards() -> Iterator[tuple[str, Callable[[], bytes]]]:
    yield "29 MB of postings", lambda: greenhouse([job("x" * 2_800)] * 10_000)
    yield "200,000 tiny postings", lambda: greenhouse([{"id": 1, "title": "x"}] * 200_000)
    yield "nested markup in a posting", lambda: greenhouse([job("<rt>" * 80_000)])
    yield "escaped nested markup", lambda: greenhouse([job("&lt;font&gt;" * 80_000)])
    yield "deep arrays", lambda: b'{"jobs":' + b"[" * MANY + b"]" * MANY + b"}"
    yield (
        "a number of a million digits",
        lambda: b'{"jobs":[],"meta":{"total":' + b"9" * 10**6 + b"}}",
    )
    yield "numbers that are none", lambda: b'{"jobs":[{"id":NaN,"title":Infinity}]}'
    yield "half characters", lambda: b'{"jobs":[{"id":1,"title":"\\ud800","content":"\\udfff"}]}'
    yield "the same key 200,000 times", lambda: b"{" + b'"jobs":[],' * 200_000 + b'"jobs":[]}'
    yield (
        "a list of places",
        lambda: greenhouse(
            [job("x", offices=[{"name": "Berlin", "location": "x" * 1_000}] * 20_000)]
        ),
    )


def feeds() -> Iterator[tuple[str, Callable[[], bytes]]]:
    yield "a billion laughs", lambda: rss(item("&e9;"), entities(10, 10))
    yield (
        "quadratic entities",
        lambda: rss(
            item("&e0;" * MANY), f"<?xml version='1.0'?><!DOCTYPE r [<!ENTITY e0 '{'a' * MANY}'>]>"
        ),
    )
    yield (
        "an external entity",
        lambda: rss(
            item("&x;"),
            "<?xml version='1.0'?><!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>",
        ),
    )
    yield "deep elements", lambda: rss("<a>" * MANY)
    yield "100,000 entries", lambda: rss(item("x") * MANY)
    yield "nested markup in an entry", lambda: rss(item("<![CDATA[" + "<rt>" * 80_000 + "]]>"))
    yield (
        "many namespaces",
        lambda: rss("".join(f"<n{n}:a xmlns:n{n}='u{n}'/>" for n in range(50_000))),
    )
    yield "a long title", lambda: rss("", title="x" * 5_000_000)


def resumes() -> Iterator[tuple[str, str, Callable[[], bytes]]]:
    yield "a document of many paragraphs", ".docx", lambda: docx(word(PARAGRAPH * 400_000))
    yield "nested tables", ".docx", lambda: docx(word("<w:tbl><w:tr><w:tc>" * 20_000))
    yield (
        "a document with entities",
        ".docx",
        lambda: docx(entities(10, 10).encode() + word("&e9;")),
    )
    yield (
        "a document of 100 MB of spaces",
        ".docx",
        lambda: docx(word("<w:p><w:r><w:t>" + " " * 100_000_000 + "</w:t></w:r></w:p>")),
    )
    yield (
        "many parts",
        ".docx",
        lambda: docx(word(PARAGRAPH), {f"word/{n}.xml": b"<a/>" for n in range(20_000)}),
    )
    yield (
        "parts outside of the archive",
        ".docx",
        lambda: docx(word(PARAGRAPH), {"../../etc/x": b"x"}),
    )
    yield (
        "a stream that unpacks to 100 MB",
        ".pdf",
        lambda: pdf_with_content(zlib.compress(b"\0" * 10**8)),
    )
    yield (
        "a stream packed twice",
        ".pdf",
        lambda: pdf_with_content(
            zlib.compress(zlib.compress(b"\0" * 10**8)), b"[/FlateDecode/FlateDecode]"
        ),
    )
    yield (
        "pages that contain themselves",
        ".pdf",
        lambda: pdf([CATALOG, b"<</Type/Pages/Kids[2 0 R]/Count 1>>"]),
    )
    yield (
        "a million pages",
        ".pdf",
        lambda: pdf(
            [
                CATALOG,
                b"<</Type/Pages/Kids[" + b"3 0 R " * 10**6 + b"]/Count 1000000>>",
                PAGE,
                b"<</Length 0>>stream\n\nendstream",
                FONT,
            ]
        ),
    )
    yield (
        "deep arrays in a document",
        ".pdf",
        lambda: pdf([CATALOG, b"<</Type/Pages/Kids" + b"[" * MANY + b">>"]),
    )
    yield (
        "text operators without end",
        ".pdf",
        lambda: pdf_with_content(zlib.compress(b"BT /F 9 Tf (x) Tj ET\n" * 2_000_000)),
    )
    yield "a zip bomb called document", ".docx", lambda: zip_bomb(10**8)
    yield "a zip bomb called resume", ".pdf", lambda: zip_bomb(10**8)
    yield "a picture of 60,000 by 60,000", ".pdf", lambda: png(60_000, 60_000)
    yield "a long text", ".txt", lambda: b"Engineer 2010 - 2020\n" * 500_000
    yield "a text of one line", ".txt", lambda: b"5 years of Python and " * 500_000
    yield "deep JSON Resume", ".json", lambda: b'{"basics":' + b"[" * MANY
    yield (
        "YAML that multiplies",
        ".yaml",
        lambda: (
            "a: &a [x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n"
                for a, b in zip("abcdefgh", "bcdefghi", strict=True)
            )
        ).encode(),
    )


def tables() -> Iterator[tuple[str, Callable[[], bytes]]]:
    yield "a quote that never closes", lambda: b'name,email\n"' + b"x" * 5_000_000
    yield "a million columns", lambda: b"name," * 10**6 + b"email\n"
    yield "a million rows", lambda: b"name,email\n" + b"a,a@example.org\n" * 10**6


DOCUMENTS: dict[str, HostileDocument] = {
    **{name: HostileDocument("page", build) for name, build in pages()},
    **{name: HostileDocument("board", build) for name, build in boards()},
    **{name: HostileDocument("feed", build) for name, build in feeds()},
    **{name: HostileDocument("resume", build, suffix) for name, suffix, build in resumes()},
    **{name: HostileDocument("table", build) for name, build in tables()},
}
