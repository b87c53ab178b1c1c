"""Check the text of a finished PDF or DOCX against the profile. Shares no code with the product: files are
read by other means, and facts are compared by removing the profile's strings from the text."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

WORD_PARAGRAPH = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}p"
WORD_TEXT = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}t"
MONTHS = ("", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
LABELS = (
    "Summary", "Skills", "Work Experience", "Projects", "Achievements", "Education",
    "Licenses and Certifications", "Languages", "Additional Information", "Work authorization",
    "Grade", "Present", "expires", "issued", "no.",
)  # fmt: skip
LETTER_PHRASES = (
    "Application:", "Dear hiring team,", "I am applying for the position of", "at", "Your website says:",
    "Your posting asks for:", "This relates to my work as", "I would be glad to tell you more in an interview.",
    "Kind regards,",
)  # fmt: skip
QUOTE = re.compile("\u201c([^\u201d]*)\u201d")
TOKEN = re.compile(r"[^\W_]+")
GRAMMAR = frozenset(
    [
        "a",
        "an",
        "and",
        "as",
        "at",
        "by",
        "for",
        "from",
        "in",
        "of",
        "on",
        "or",
        "the",
        "to",
        "was",
        "were",
        "with",
    ]
)


def read_pdf(data: bytes) -> str:
    """By poppler where it is installed, which is another program than the one that the product uses."""
    if shutil.which("pdftotext"):
        with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
            file.write(data)
            file.flush()
            command = ["pdftotext", "-enc", "UTF-8", file.name, "-"]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    import pypdf

    return "\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages)


def read_docx(data: bytes) -> str:
    body = zipfile.ZipFile(io.BytesIO(data)).read("word/document.xml")
    paragraphs = ElementTree.fromstring(body).iter(WORD_PARAGRAPH)
    return "\n".join(
        "\u2022 " + "".join(node.text or "" for node in paragraph.iter(WORD_TEXT))
        for paragraph in paragraphs
    )


def count_pages(data: bytes) -> int:
    import pypdf

    return len(pypdf.PdfReader(io.BytesIO(data)).pages)


def profile_strings(content: Any) -> Iterator[str]:
    """Every string of a profile, and its dates as a document prints them."""
    if isinstance(content, dict):
        for value in content.values():
            yield from profile_strings(value)
    elif isinstance(content, list):
        for value in content:
            yield from profile_strings(value)
    elif isinstance(content, str):
        yield " ".join(content.removeprefix("https://").split())
        if date := re.fullmatch(r"(\d{4})-(\d\d)", content):
            yield f"{MONTHS[int(date[2])]} {date[1]}"


def find_foreign_words(text: str, content: Any, extra: Iterable[str] = ()) -> list[str]:
    """The words of a text that remain when all strings of the profile, the labels and `extra` are removed.
    Each string is removed as a whole, the longest first, so that a number counts only within its fact."""
    rest = f" {' '.join(text.replace(chr(0x2022), ' ').split())} "
    known = {*profile_strings(content), *LABELS, *extra}
    for words in sorted(known, key=len, reverse=True):
        rest = re.sub(rf"(?<!\w){re.escape(words)}(?!\w)", " | ", rest)
    return TOKEN.findall(rest)


def find_unsupported_lines(text: str, content: Any) -> list[str]:
    """For reworded documents: parts of the text that no single string of the profile covers."""
    rest = f" {' '.join(text.split())} "
    strings = set(profile_strings(content))
    for words in sorted({*strings, *LABELS}, key=len, reverse=True):
        rest = re.sub(rf"(?<!\w){re.escape(words)}(?!\w)", " \u2022 ", rest)
    tokens_of = [set(map(_token, TOKEN.findall(words))) for words in strings]
    unsupported: list[str] = []
    for part in re.split(r"\u2022|\.\s|\|", rest):
        tokens = {_token(word) for word in TOKEN.findall(part)} - GRAMMAR
        if tokens and not any(tokens <= others for others in tokens_of):
            unsupported.append(part.strip())
    return unsupported


def _token(word: str) -> str:
    return word.casefold()


def find_unquoted(text: str, sources: Iterable[str]) -> list[str]:
    """Quotes of a letter that stand in none of the sources."""
    plain = [" ".join(source.split()) for source in sources]
    quotes = QUOTE.findall(" ".join(text.split()))
    return [quote for quote in quotes if not any(quote in source for source in plain)]


def without_quotes(text: str) -> str:
    return QUOTE.sub(" | ", " ".join(text.split()))


def is_in_order(text: str, facts: Iterable[str]) -> bool:
    """Whether the facts stand in the text in this order, none lost."""
    plain, place = " ".join(text.replace("\u2022", "").split()), 0
    for fact in facts:
        place = plain.find(" ".join(fact.split()), place)
        if place < 0:
            return False
        place += len(fact)
    return True


def resave(data: bytes, folder: Path) -> bytes | None:
    """The DOCX as LibreOffice saves it again; None if LibreOffice is not installed."""
    program = shutil.which("soffice") or shutil.which("libreoffice")
    if program is None:
        return None
    (folder / "in").mkdir(exist_ok=True)
    source = folder / "in" / "document.docx"
    source.write_bytes(data)
    command = [program, "--headless", "--convert-to", "docx", "--outdir", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "document.docx").read_bytes()
