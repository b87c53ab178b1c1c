"""Check that a DOCX holds only what a text document needs: no programs, nothing that is loaded from elsewhere.

Its parts are parsed as XML. A search in the bytes misses what is written in another encoding, with another
prefix or with character references.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from xml.etree import ElementTree as xml

from jobmill.errors import Invalid
from jobmill.extract.document_limits import MAX_PARTS, MAX_UNPACKED_SIZE

MAX_RATIO = 200
MAX_DENSE_SIZE = 1_000_000
"""A part that unpacks to more than this, and to MAX_RATIO times its size, is no text."""
XML_SUFFIXES = {".xml", ".rels", ".vml"}
SUFFIXES = XML_SUFFIXES | {
    ".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".gif", ".bmp", ".tif", ".tiff", ".emf", ".wmf", ".svg",
    ".wdp", ".webp", ".ico", ".odttf", ".ttf",
}  # fmt: skip
"""Of the parts that a document may have: XML, pictures and fonts."""
MACRO_PART = re.compile(
    r"vba(project|data)|activex|(^|/)embeddings/|\.(bin|exe|dll|js|vbs|hta|scr|com|bat)$",
    re.IGNORECASE,
)
MACRO_TYPE = re.compile(r"macroenabled|vba|activex|oleobject", re.IGNORECASE)
DOCUMENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
RELATIONSHIPS = {
    "officedocument", "core-properties", "extended-properties", "custom-properties", "thumbnail",
    "styles", "styleswitheffects", "settings", "websettings", "fonttable", "font", "theme",
    "themeoverride", "numbering", "footnotes", "endnotes", "header", "footer", "hyperlink", "image",
    "hdphoto", "comments", "commentsextended", "commentsids", "commentsextensible", "people",
    "glossarydocument", "customxml", "customxmlprops", "chart", "chartstyle", "chartcolorstyle",
    "chartusershapes", "diagramdata", "diagramlayout", "diagramquickstyle", "diagramcolors",
    "diagramdrawing", "documenttasks", "classificationlabels", "person", "metadata",
}  # fmt: skip
"""The last word of the types of relationships that a document may have, in lower case."""
DECLARED_ENCODING = re.compile(rb"<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([^\"']*)")
FIELD_PROGRAM = re.compile(r"\bDDE(AUTO)?\b", re.IGNORECASE)

UNUSUAL_DOCUMENT = "The file is not a usual Word document. Save it as PDF, and try again."
MACROS = "The file contains macros or embedded programs. Save it as PDF, and try again."
EXTERNAL_PARTS = "The file loads parts from another place. Save it as PDF, and try again."
FOREIGN_PARTS = "The file contains parts of another type. Save it as PDF, and try again."
PROGRAM_FIELD = "The file contains a field that starts a program. Save it as PDF, and try again."
EXTRA_CONTENT = "The file contains something besides the document. Save it as PDF, and try again."


def check_archive(data: bytes) -> None:
    """Raise Invalid for a part that a text document does not need."""
    import docx  # Imported here because it loads slowly.

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = [part for part in archive.infolist() if not part.is_dir()]
        _check_sizes(archive.infolist())
        _check_names(archive.infolist(), archive)
        for part in parts:
            _check_part(part.filename, archive.read(part))
    # Opens what Word would open; raises for a damaged document.
    docx.Document(io.BytesIO(data))


def _check_sizes(parts: list[zipfile.ZipInfo]) -> None:
    # zipfile never reads more of a part than its entry declares.
    unpacked = sum(part.file_size for part in parts)
    is_dense = any(
        part.file_size > max(MAX_DENSE_SIZE, MAX_RATIO * part.compress_size) for part in parts
    )
    if len(parts) > MAX_PARTS or unpacked > MAX_UNPACKED_SIZE or is_dense:
        raise Invalid("The file is too large when unpacked. Save it as PDF, and try again.")


def _check_names(parts: list[zipfile.ZipInfo], archive: zipfile.ZipFile) -> None:
    names = [part.orig_filename for part in parts]
    if any(part.flag_bits & 1 for part in parts):
        raise Invalid("The file is protected by a password. Save it without a password.")
    has_path = any(
        name.startswith("/")
        or "\\" in name
        or ":" in name
        or "\0" in name
        or ".." in name.split("/")
        for name in names
    )
    if has_path or archive.comment or len({name.lower() for name in names}) < len(names):
        raise Invalid(UNUSUAL_DOCUMENT)
    if min(part.header_offset for part in parts):
        raise Invalid(EXTRA_CONTENT)


def _check_part(name: str, content: bytes) -> None:
    if MACRO_PART.search(name):
        raise Invalid(MACROS)
    # The name of the first relationships is only a suffix.
    suffix = PurePosixPath(f"x{PurePosixPath(name).name}").suffix.lower()
    if suffix not in SUFFIXES:
        raise Invalid(FOREIGN_PARTS)
    if suffix not in XML_SUFFIXES:
        return
    root = _parse_xml(content)
    if name.lower() == "[content_types].xml":
        _check_types(root)
    elif suffix == ".rels":
        _check_relationships(root)
    else:
        _check_fields(root)


def _parse_xml(content: bytes) -> xml.Element:
    """The root of a part; refuses everything but UTF-8 without a document type, as Word writes it."""
    declared = DECLARED_ENCODING.search(content[:200])
    is_declared = declared is None or declared[1].lower() in (b"utf-8", b"us-ascii")
    if not is_declared or b"\0" in content or b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise Invalid(UNUSUAL_DOCUMENT)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(UNUSUAL_DOCUMENT) from error
    return xml.fromstring(text)


def _iter_elements(root: xml.Element) -> Iterator[tuple[str, dict[str, str], str]]:
    """Name, attributes and text of each element, without the namespaces."""
    for element in root.iter():
        attributes = {_local_name(name): value for name, value in element.attrib.items()}
        yield _local_name(element.tag), attributes, element.text or ""


def _local_name(name: Any) -> str:
    return str(name).rpartition("}")[2]


def _check_types(root: xml.Element) -> None:
    types = [attributes.get("ContentType", "") for _, attributes, _ in _iter_elements(root)]
    if any(MACRO_TYPE.search(type) for type in types):
        raise Invalid(MACROS)
    if DOCUMENT_TYPE not in types:
        raise Invalid("The file is not a Word document. Save it as PDF, and try again.")


def _check_relationships(root: xml.Element) -> None:
    for name, attributes, _ in _iter_elements(root):
        if name != "Relationship":
            continue
        type = attributes.get("Type", "").strip().rpartition("/")[2].lower()
        is_external = attributes.get("TargetMode", "").strip().lower() == "external"
        target = attributes.get("Target", "").strip()
        has_address = ":" in target or target.startswith(("//", "\\\\"))
        if (is_external or has_address) and type != "hyperlink":
            raise Invalid(EXTERNAL_PARTS)
        if type not in RELATIONSHIPS:
            raise Invalid(FOREIGN_PARTS)


def _check_fields(root: xml.Element) -> None:
    instructions: list[str] = []
    for name, attributes, text in _iter_elements(root):
        if name == "altChunk":
            raise Invalid(FOREIGN_PARTS)
        if name in ("instrText", "delInstrText"):
            # Word joins the texts of a field, so a name may be split.
            instructions.append(text)
        elif name == "fldChar":
            instructions.append(" ")
        elif name == "fldSimple":
            instructions.append(f" {attributes.get('instr', '')} ")
    if FIELD_PROGRAM.search("".join(instructions)):
        raise Invalid(PROGRAM_FIELD)
