"""Resumes, read into the draft of a profile. Only what they say outright is taken."""

from __future__ import annotations

import datetime as dt
import io
import json
import logging
import re
import struct
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from jobmill.errors import Invalid
from jobmill.matching import resume_name, resume_sections, work_history
from jobmill.matching.posting_facts import skills
from jobmill.matching.profile import Person, Profile, Skill

if TYPE_CHECKING:
    from pypdf import PageObject

Format: TypeAlias = Literal["pdf", "docx", "json-resume", "text"]

BIGGEST = 10_000_000
"""Bytes of a file."""
LONGEST = 300_000
"""Characters of its text."""
UNPACKED = 60_000_000
"""Bytes of a DOCX, unpacked."""
PARTS = 2_000
PAGES = 60
MOST_WORK = 200
"""Employments of a JSON Resume."""
PATIENCE = 20.0
"""Seconds for the pages of a PDF."""
PDF_LIMITS: dict[str, Any] = {
    "stream_parsing_work_maximum_count": 150_000,
    "zlib_maximum_output_length": 10_000_000,
    "lzw_maximum_output_length": 10_000_000,
    "run_length_maximum_output_length": 10_000_000,
    "array_based_stream_maximum_output_length": 10_000_000,
    "page_tree_maximum_entries": 1_000,
    "xform_maximum_invocations_per_extraction": 50,
    # No program of this machine is started for a picture.
    "jbig2dec_binary": None,
}
"""A full page takes some 5,000 steps and some 50 kB."""

BROKEN = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError, SyntaxError,
    AssertionError, OSError, EOFError, MemoryError, zlib.error, struct.error, zipfile.BadZipFile,
)  # fmt: skip
"""What libraries raise when they stumble over a file that was made to make them stumble."""

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

YEARS = r"(?P<years>\d{1,2}(?:\.\d)?)\s?\+?\s?(?:years?|yrs?)\b"
LED_BY_YEARS = re.compile(
    YEARS
    + r"['\u2019]?(?: (?:of|in|with|using|writing|professional|experience|hands-on|commercial)){0,5} $",
    re.IGNORECASE,
)
THEN_YEARS = re.compile(
    r"\s?[:(,\u2013\u2014-]?\s?(?:for )?" + YEARS + r"(?![^\n,;)|]{0,3}[a-z])", re.IGNORECASE
)
MARKDOWN = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]{1,3}|\*\*", re.MULTILINE)
OF_A_CAREER = (
    r"(?: (?:professional|total|overall|industry|work|working|relevant|combined|hands-on|proven"
    r"|commercial|practical))*"
)
CAREER = re.compile(
    YEARS + rf"['\u2019]?(?: of)?(?:{OF_A_CAREER} experience\b(?! (?:in|with|using|of|on|as)\b)"
    r"| (?:total|overall|combined) experience\b)"
    r"|(?P<jahre>\d{1,2})\+? Jahren? (?:Berufs|Praxis)?erfahrung\b(?! (?:in|im|mit|als)\b)"
    r"|(?P<ans>\d{1,2})\+? ans d['\u2019]expérience\b(?: professionnelle\b)?(?! (?:en|dans|avec|sur)\b)",
    re.IGNORECASE,
)
NOTHING = (
    "Nothing was found in {file}: no title, no skill we know, no dated employment. Give the whole "
    "text of a resume, or fill the profile in by hand."
)


@dataclass(frozen=True, slots=True)
class Draft:
    """What a resume says, for somebody to look over."""

    format: Format
    profile: Profile
    missing: tuple[str, ...]
    """Fields that it says nothing of."""


def sniff(data: bytes) -> Format | None:
    """Which kind of resume this certainly is; None for any other text."""
    if data.lstrip()[:5] == b"%PDF-":
        return "pdf"
    if data[:4] == b"PK\x03\x04" or data.startswith(OLE):
        return "docx"
    return "json-resume" if _is_json_resume(data) else None


def _is_json_resume(data: bytes) -> bool:
    if not data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") or len(data) > BIGGEST:
        return False
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and bool({"basics", "work", "education"} & told.keys())  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportUnknownArgumentType]


def read(data: bytes, file: str, *, today: dt.date | None = None) -> Draft:
    """The draft of a profile; Invalid, with what to do, for a file that cannot be read, or in which
    nothing is found."""
    today = today or dt.datetime.now(dt.UTC).date()
    if len(data) > BIGGEST:
        raise Invalid(f"{file} has more than {BIGGEST // 10**6} MB: give its text alone")
    form = sniff(data) or "text"
    if form == "json-resume":
        found = _from_json(json.loads(data), today)
    else:
        found = _from_text(_text(data, form, file), today)
    if not found.model_fields_set:
        raise Invalid(NOTHING.format(file=file))
    return Draft(form, found, tuple(_missing(found)))


def _missing(profile: Profile) -> Iterator[str]:
    told = profile.model_fields_set
    if not profile.person.name:
        yield "person.name"
    for name in ("summary", "experience_years", "seniority", "skills", "titles", "highlights"):
        if name not in told:
            yield name
    yield from ("person.timezone", "locations", "salary_floor", "stop_lists")


def _text(data: bytes, form: Format, file: str) -> str:
    readers = {"pdf": _pdf, "docx": _docx}
    text = readers[form](data, file) if form in readers else _decoded(data, file)
    if len(text) > LONGEST:
        raise Invalid(f"{file} holds more text than any resume: {len(text):,} characters")
    if not text.strip():
        raise Invalid(f"{file} holds no text: a scan must be turned into text first")
    return text


def _decoded(data: bytes, file: str) -> str:
    if b"\x00" in data[:4_000] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Invalid(f"{file} is neither text nor PDF, DOCX or JSON Resume")
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _pdf(data: bytes, file: str) -> str:
    import pypdf  # It takes a while to load, and few commands need it.
    import pypdf.errors

    # It warns of every oddity; what matters is whether a text comes out.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        with pypdf.apply_configuration(**PDF_LIMITS):
            reader = pypdf.PdfReader(io.BytesIO(data))
            if reader.is_encrypted:
                raise Invalid(f"{file} is encrypted: save it without a password")
            if len(reader.pages) > PAGES:
                raise Invalid(f"{file} has more than {PAGES} pages: give the resume alone")
            return _joined(_page_texts(reader.pages, file))
    except pypdf.errors.LimitReachedError as error:
        raise Invalid(f"{file} holds more than any resume: give its text") from error
    except (pypdf.errors.PyPdfError, *BROKEN) as error:
        raise Invalid(f"{file} is a broken PDF: save it anew, or give its text") from error


def _page_texts(pages: Iterable[PageObject], file: str) -> Iterator[str]:
    ends = time.monotonic() + PATIENCE
    for page in pages:
        if time.monotonic() > ends:
            raise Invalid(f"{file} takes too long to read: give its text")
        yield page.extract_text()


def _docx(data: bytes, file: str) -> str:
    if data.startswith(OLE):
        raise Invalid(
            f"{file} is encrypted, or of an old Word: save it as .docx without a password"
        )
    try:
        _refuse_bombs(data, file)
        return _joined(_paragraphs(data))
    except BROKEN as error:
        raise Invalid(f"{file} is a broken DOCX: save it anew, or give its text") from error


def _refuse_bombs(data: bytes, file: str) -> None:
    # zipfile reads no more of a part than its entry says, so that what is said here holds.
    parts = zipfile.ZipFile(io.BytesIO(data)).infolist()
    if len(parts) > PARTS or sum(part.file_size for part in parts) > UNPACKED:
        raise Invalid(f"{file} unpacks to more than any resume: give its text")


def _paragraphs(data: bytes) -> Iterator[str]:
    import docx  # As above.
    from docx.table import Table

    for block in docx.Document(io.BytesIO(data)).iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                yield " | ".join(dict.fromkeys(cell.text for cell in row.cells))
        else:
            yield block.text


def _joined(parts: Iterator[str]) -> str:
    """Joined by lines, until it is clear that there is too much of it."""
    text: list[str] = []
    length = 0
    for part in parts:
        text.append(part)
        length += len(part)
        if length > LONGEST:
            break
    return "\n".join(text)


def _from_text(text: str, today: dt.date) -> Profile:
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    text = "".join(mark if mark.isprintable() or mark in "\n\t" else " " for mark in text)
    text = MARKDOWN.sub("", text)
    parts = resume_sections.parts(text)
    work = parts.get("work", [])
    top = [*parts["head"][:6], *parts.get("person", [])[:6]]
    worked = work_history.stations(work or parts["head"], today, sure=bool(work))
    years = _years(CAREER.search(text)) or work_history.years(worked)
    found = _profile(
        summary=" ".join(" ".join(parts.get("summary", [])).split())[:10_000],
        experience_years=years,
        skills=_skills(text),
        titles=work_history.titles([*top, *work]),
        seniority=work_history.seniority(work_history.headline(top), worked, years),
        highlights=_items(work),
        projects=_items(parts.get("projects", [])),
        achievements=_items(parts.get("achievements", [])),
    )
    # Two words alone may be anything.
    name = resume_name.name(text) if found.model_fields_set or len(parts) > 1 else None
    return found.model_copy(update={"person": Person(name=name[:200])}) if name else found


def _profile(**told: Any) -> Profile:
    """With what is told only, so that a draft does not state what the resume does not."""
    return Profile.model_validate({name: value for name, value in told.items() if value})


def _skills(text: str) -> list[Skill]:
    years: dict[str, float | None] = {}
    for hit in skills.find(text):
        stated = _stated_years(text, hit)
        known = years.get(hit.name)
        years[hit.name] = max(filter(None, (stated, known)), default=None)
    return [Skill(name=name, years=count) for name, count in list(years.items())[:500]]


def _stated_years(text: str, hit: skills.Hit) -> float | None:
    """`8 years of Python`, `Python (8 years)`: only right beside the name."""
    before = text[max(0, hit.start - 80) : hit.start]
    found = LED_BY_YEARS.search(before) or THEN_YEARS.match(text[hit.end : hit.end + 40])
    return _years(found)


def _years(found: re.Match[str] | None) -> float | None:
    said = next(filter(None, found.groups()), None) if found else None
    count = float(said) if said else None
    # Nobody has worked for longer.
    return count if count is None or count <= 80 else None


def _items(lines: list[str]) -> list[str]:
    """The points of a list, each with the lines it runs over."""
    found: list[str] = []
    is_open = False
    for line in lines:
        if work_history.BULLET.match(line):
            found.append(work_history.BULLET.sub("", line).strip())
            is_open = True
        elif is_open and line.strip() and (line[0].isspace() or line[0].islower()):
            found[-1] += f" {line.strip()}"
        else:
            is_open = False
    return [item[:2_000] for item in found if item][:200]


def _from_json(told: dict[str, Any], today: dt.date) -> Profile:
    """JSON Resume (jsonresume.org); what has another shape is passed over."""
    basics = _group(told.get("basics"))
    work = _groups(told.get("work"))[:MOST_WORK]
    texts = [_word(basics.get("summary")), *_strings(told)]
    named = [name for entry in _groups(told.get("skills")) for name in _skill_names(entry)]
    titles = [_word(basics.get("label")), *(_word(entry.get("position")) for entry in work)]
    worked = [one for entry in work for one in _stations(entry, today)]
    person = _person(basics)
    return _profile(
        person=person if person.model_fields_set else None,
        experience_years=work_history.years(worked),
        seniority=work_history.seniority([_word(basics.get("label"))], worked, work_history.years(worked)),
        summary=_word(basics.get("summary"))[:10_000],
        skills=_merged(named, _skills("\n".join(texts)[:LONGEST])),
        titles=list(dict.fromkeys(title[:200] for title in titles if title))[:50],
        highlights=[line for entry in work for line in _lines(entry.get("highlights"))][:200],
        projects=_about(told.get("projects"), "name", "description"),
        achievements=_about(told.get("awards"), "title", "summary"),
    )  # fmt: skip


def _person(basics: dict[str, Any]) -> Person:
    place = _group(basics.get("location"))
    city = ", ".join(filter(None, (_word(place.get(part)) for part in ("city", "region"))))
    told = {"name": _word(basics.get("name"))[:200], "home_city": city[:200]}
    return Person.model_validate({name: value for name, value in told.items() if value})


def _stations(entry: dict[str, Any], today: dt.date) -> list[work_history.Station]:
    start, end = (_word(entry.get(name))[:7] for name in ("startDate", "endDate"))
    if not start or (entry.get("endDate") and not end):
        return []
    found = work_history.stations([f"{start} - {end or 'present'}"], today)
    return [one._replace(titles=[_word(entry.get("position"))]) for one in found]


def _skill_names(entry: dict[str, Any]) -> list[str]:
    """An entry is a skill, or a group of them: then its keywords are the skills."""
    keywords = _lines(entry.get("keywords"))
    return keywords or list(filter(None, [_word(entry.get("name"))]))


def _merged(named: list[str], found: list[Skill]) -> list[Skill]:
    """What is listed first, then what the texts name besides."""
    years = {skill.name: skill.years for skill in found}
    names = dict.fromkeys([*(skills.canonical(name)[:200] for name in named), *years])
    once = {name.casefold(): name for name in reversed(names)}
    return [Skill(name=name, years=years.get(name)) for name in reversed(once.values())][:500]


def _about(given: object, *fields: str) -> list[str]:
    """Each entry on a line: what it is called, and what it says of itself."""
    parts = [[_word(entry.get(field)) for field in fields] for entry in _groups(given)]
    lines = [": ".join(filter(None, part))[:2_000] for part in parts]
    return [line for line in lines if line][:200]


def _strings(told: object) -> Iterator[str]:
    """Texts that people write about their work, wherever they stand."""
    for part in ("work", "projects", "volunteer"):
        for entry in _groups(_group(told).get(part)):
            yield _word(entry.get("summary"))
            yield _word(entry.get("description"))
            yield from _lines(entry.get("highlights"))


def _group(given: object) -> dict[str, Any]:
    return cast(dict[str, Any], given) if isinstance(given, dict) else {}


def _groups(given: object) -> list[dict[str, Any]]:
    return [_group(one) for one in cast(list[object], given)] if isinstance(given, list) else []


def _lines(given: object) -> list[str]:
    found = [_word(one) for one in cast(list[object], given)] if isinstance(given, list) else []
    return [line[:2_000] for line in found if line]


def _word(given: object) -> str:
    """On one line, without anything that a profile refuses."""
    text = given if isinstance(given, str) else ""
    return "".join(mark if mark.isprintable() else " " for mark in text).strip()
