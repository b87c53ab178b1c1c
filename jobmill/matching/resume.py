"""Read a resume into a draft profile, taking only what the resume states explicitly."""

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
from jobmill.matching import (
    linkedin_export,
    resume_address,
    resume_languages,
    resume_name,
    resume_sections,
    resume_skills,
    work_history,
)
from jobmill.matching.posting_facts import experience_years, skills
from jobmill.matching.profile import Profile, ProfilePerson, Skill

if TYPE_CHECKING:
    from pypdf import PageObject

Format: TypeAlias = Literal["pdf", "docx", "json-resume", "linkedin", "text"]

MAX_FILE_SIZE = 10_000_000
"""Bytes of a file."""
MAX_TEXT_LENGTH = 300_000
"""Characters of its text."""
MAX_UNPACKED_SIZE = 60_000_000
"""Bytes of a DOCX, unpacked."""
MAX_PARTS = 2_000
MAX_PAGES = 60
MAX_JOBS = 200
"""Jobs in a JSON Resume."""
PDF_TIMEOUT = 20.0
"""Seconds for the pages of a PDF."""
PDF_LIMITS: dict[str, Any] = {
    "stream_parsing_work_maximum_count": 150_000,
    "zlib_maximum_output_length": 10_000_000,
    "lzw_maximum_output_length": 10_000_000,
    "run_length_maximum_output_length": 10_000_000,
    "array_based_stream_maximum_output_length": 10_000_000,
    "page_tree_maximum_entries": 1_000,
    "xform_maximum_invocations_per_extraction": 50,
    # Do not start an external program to decode images.
    "jbig2dec_binary": None,
}
"""A full page takes about 5,000 steps and 50 kB."""

PARSE_ERRORS = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError, SyntaxError,
    AssertionError, OSError, EOFError, MemoryError, zlib.error, struct.error, zipfile.BadZipFile,
)  # fmt: skip
"""Exceptions that the parsing libraries raise on malformed or malicious files."""

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
NUMBER_WORDS = {word: number for word, number in experience_years.WORDS.items() if number > 1}
STATED_CAREER = re.compile(
    rf"(?<![\w.,/$-])(?P<years>\d{{1,2}}(?:\.\d)?|{'|'.join(NUMBER_WORDS)})\s?\+?\s?(?:years?|yrs?)['\u2019]?"
    r"(?:(?: of)?(?: [^\W\d_]{2,20}){0,3}? experience\b(?! with\b)| as an? )",
    re.IGNORECASE,
)
NOTHING_FOUND = (
    "Nothing was found in {file}: no job title, no skills and no dated employment. Use the full "
    "text of a resume, or fill in the profile by hand."
)


@dataclass(frozen=True, slots=True)
class ResumeDraft:
    """A profile read from a resume, for the person to review."""

    format: Format
    profile: Profile
    missing: tuple[str, ...]
    """Profile fields that the resume does not mention."""


def detect_format(data: bytes) -> Format | None:
    """Detect the file format; None for plain text."""
    if data.lstrip()[:5] == b"%PDF-":
        return "pdf"
    if data[:4] == b"PK\x03\x04" or data.startswith(OLE):
        return "linkedin" if _is_linkedin_export(data) else "docx"
    return "json-resume" if _is_json_resume(data) else None


def _is_json_resume(data: bytes) -> bool:
    if not data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") or len(data) > MAX_FILE_SIZE:
        return False
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and bool({"basics", "work", "education"} & document.keys())  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportUnknownArgumentType]


def _is_linkedin_export(data: bytes) -> bool:
    try:
        return linkedin_export.is_export(zipfile.ZipFile(io.BytesIO(data)))
    except PARSE_ERRORS:
        return False


def read_resume(data: bytes, file: str, *, today: dt.date | None = None) -> ResumeDraft:
    """Read a resume into a draft profile. Invalid, with advice, if the file cannot be read or
    contains nothing usable."""
    today = today or dt.datetime.now(dt.UTC).date()
    if len(data) > MAX_FILE_SIZE:
        raise Invalid(
            f"{file} is larger than {MAX_FILE_SIZE // 10**6} MB. Use a plain text version."
        )
    form = detect_format(data) or "text"
    if form == "json-resume":
        profile = _from_json(json.loads(data), today)
    elif form == "linkedin":
        profile = _from_json(_read_linkedin(data, file), today)
    else:
        profile = _from_text(_extract_text(data, form, file), today)
    if not profile.model_fields_set:
        raise Invalid(NOTHING_FOUND.format(file=file))
    return ResumeDraft(form, profile, tuple(_missing_fields(profile)))


def _missing_fields(profile: Profile) -> Iterator[str]:
    stated = profile.model_fields_set
    if not profile.person.name:
        yield "person.name"
    names = (
        "summary",
        "experience_years",
        "seniority",
        "skills",
        "titles",
        "languages",
        "highlights",
    )
    yield from (name for name in names if name not in stated)
    yield from (
        f"person.{name}"
        for name in ("home_city", "timezone")
        if name not in profile.person.model_fields_set
    )
    yield from ("locations", "salary_floor", "stop_lists")


def _extract_text(data: bytes, form: Format, file: str) -> str:
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
            return _join(_page_texts(reader.pages, file))
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
        yield page.extract_text()


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


def _read_linkedin(data: bytes, file: str) -> dict[str, Any]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        if len(archive.infolist()) > MAX_PARTS:
            raise Invalid(f"{file} is too large when unpacked: it has too many files.")
        return linkedin_export.read_export(archive, file)
    except PARSE_ERRORS as error:
        raise Invalid(f"{file} is damaged. Export your data from LinkedIn again.") from error


def _paragraphs(data: bytes) -> Iterator[str]:
    import docx  # See above.
    from docx.table import Table

    for block in docx.Document(io.BytesIO(data)).iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                yield " | ".join(dict.fromkeys(cell.text for cell in row.cells))
        else:
            yield block.text


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


def _from_text(text: str, today: dt.date) -> Profile:
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    text = "".join(mark if mark.isprintable() or mark in "\n\t" else " " for mark in text)
    text = MARKDOWN.sub("", text)
    parts = resume_sections.split_sections(text)
    work = parts.get("work", [])
    top = [*parts["head"][:6], *parts.get("person", [])[:6]]
    employments = work_history.find_employments(work or parts["head"], today, sure=bool(work))
    stated = _career_years("\n".join([*parts["head"], *parts.get("summary", [])]))
    stated = stated or _parse_years(CAREER.search(text))
    years = stated or work_history.total_years(employments)
    profile = _build_profile(
        summary=" ".join(" ".join(parts.get("summary", [])).split())[:10_000],
        experience_years=years,
        skills=resume_skills.merge_skills(
            resume_skills.read_skill_section(parts.get("skills", [])),
            resume_skills.read_licence_section(parts.get("licences", [])),
            _find_skills(text),
        ),
        languages=resume_languages.find_languages(parts.get("languages", [])),
        titles=work_history.find_titles([*top, *work]),
        seniority=work_history.derive_seniority(
            work_history.find_headline_titles(top), employments, years
        ),
        highlights=_bulleted_items(work),
        projects=_bulleted_items(parts.get("projects", [])),
        achievements=_bulleted_items(parts.get("achievements", [])),
    )
    # Two words alone could be anything.
    name = resume_name.find_name(text) if profile.model_fields_set or len(parts) > 1 else None
    person = _read_person(name, [*parts["head"][:8], *parts.get("person", [])[:8]])
    return profile.model_copy(update={"person": person}) if person.model_fields_set else profile


def _read_person(name: str | None, lines: list[str]) -> ProfilePerson:
    city = resume_address.find_home_city(lines, name)
    values = {
        "name": name and name[:200],
        "home_city": city,
        "timezone": city and resume_address.find_time_zone(city),
    }
    return ProfilePerson.model_validate({key: value for key, value in values.items() if value})


def _career_years(text: str) -> float | None:
    """The years that the person states at the top, also "8 years of nursing experience" and "8 years
    as a chef", but not those of a known skill."""
    for match in STATED_CAREER.finditer(text):
        line_end = text.find("\n", match.end())
        rest = text[match.start() : line_end if line_end >= 0 else None][:120]
        if not skills.find_skills(rest.partition(".")[0]):
            count = match["years"].lower()
            return _plausible_years(float(NUMBER_WORDS.get(count, count)))
    return None


def _build_profile(**values: Any) -> Profile:
    """Set only the fields that the resume mentions, so that the draft does not state defaults."""
    return Profile.model_validate({name: value for name, value in values.items() if value})


def _find_skills(text: str) -> list[Skill]:
    years: dict[str, float | None] = {}
    for hit in skills.find_skills(text):
        stated = _stated_years(text, hit)
        previous = years.get(hit.name)
        years[hit.name] = max(filter(None, (stated, previous)), default=None)
    return [Skill(name=name, years=count) for name, count in list(years.items())[:500]]


def _stated_years(text: str, hit: skills.SkillHit) -> float | None:
    """Recognise `8 years of Python` and `Python (8 years)`, only right beside the name."""
    before = text[max(0, hit.start - 80) : hit.start]
    match = LED_BY_YEARS.search(before) or THEN_YEARS.match(text[hit.end : hit.end + 40])
    return _parse_years(match)


def _parse_years(match: re.Match[str] | None) -> float | None:
    digits = next(filter(None, match.groups()), None) if match else None
    return _plausible_years(float(digits)) if digits else None


def _plausible_years(count: float) -> float | None:
    # No career is longer than this.
    return count if count <= 80 else None


def _bulleted_items(lines: list[str]) -> list[str]:
    """The items of a bulleted list, each joined with its continuation lines."""
    items: list[str] = []
    is_open = False
    for line in lines:
        if work_history.BULLET.match(line):
            items.append(work_history.BULLET.sub("", line).strip())
            is_open = True
        elif is_open and line.strip() and (line[0].isspace() or line[0].islower()):
            items[-1] += f" {line.strip()}"
        else:
            is_open = False
    return [item[:2_000] for item in items if item][:200]


def _from_json(document: dict[str, Any], today: dt.date) -> Profile:
    """Read a JSON Resume (jsonresume.org). Values with an unexpected type are ignored."""
    basics = _as_dict(document.get("basics"))
    work = _as_dicts(document.get("work"))[:MAX_JOBS]
    texts = [_as_text(basics.get("summary")), *_free_texts(document)]
    listed = [*_as_dicts(document.get("skills")), *_as_dicts(document.get("certificates"))]
    named = [name for entry in listed for name in _skill_names(entry)]
    titles = [_as_text(basics.get("label")), *(_as_text(entry.get("position")) for entry in work)]
    employments = [employment for entry in work for employment in _employments(entry, today)]
    person = _person(basics)
    return _build_profile(
        person=person if person.model_fields_set else None,
        experience_years=work_history.total_years(employments),
        seniority=work_history.derive_seniority([_as_text(basics.get("label"))], employments, work_history.total_years(employments)),
        summary=_as_text(basics.get("summary"))[:10_000],
        skills=_merge_skills(named, _find_skills("\n".join(texts)[:MAX_TEXT_LENGTH])),
        languages=resume_languages.find_languages(
            _as_text(entry.get("language")) for entry in _as_dicts(document.get("languages"))
        ),
        titles=list(dict.fromkeys(title[:200] for title in titles if title))[:50],
        highlights=[line for entry in work for line in _lines(entry.get("highlights"))][:200],
        projects=_entry_lines(document.get("projects"), "name", "description"),
        achievements=_entry_lines(document.get("awards"), "title", "summary"),
    )  # fmt: skip


def _person(basics: dict[str, Any]) -> ProfilePerson:
    place = _as_dict(basics.get("location"))
    city = ", ".join(filter(None, (_as_text(place.get(part)) for part in ("city", "region"))))
    values = {
        "name": _as_text(basics.get("name"))[:200],
        "home_city": city[:200],
        "timezone": city and resume_address.find_time_zone(city[:200]),
    }
    return ProfilePerson.model_validate({name: value for name, value in values.items() if value})


def _employments(entry: dict[str, Any], today: dt.date) -> list[work_history.Employment]:
    start, end = (_as_text(entry.get(name))[:7] for name in ("startDate", "endDate"))
    if not start or (entry.get("endDate") and not end):
        return []
    employments = work_history.find_employments([f"{start} - {end or 'present'}"], today)
    return [
        employment._replace(titles=[_as_text(entry.get("position"))]) for employment in employments
    ]


def _skill_names(entry: dict[str, Any]) -> list[str]:
    """An entry is a skill, or a group with skills as its keywords."""
    keywords = _lines(entry.get("keywords"))
    return keywords or list(filter(None, [_as_text(entry.get("name"))]))


def _merge_skills(named: list[str], found_skills: list[Skill]) -> list[Skill]:
    """Skills from the list first, then others that the texts name."""
    years = {skill.name: skill.years for skill in found_skills}
    names = dict.fromkeys([*(skills.canonical_name(name)[:200] for name in named), *years])
    once = {name.casefold(): name for name in reversed(names)}
    return [Skill(name=name, years=years.get(name)) for name in reversed(once.values())][:500]


def _entry_lines(value: object, *fields: str) -> list[str]:
    """Each entry on one line: its name and its description."""
    parts = [[_as_text(entry.get(field)) for field in fields] for entry in _as_dicts(value)]
    lines = [": ".join(filter(None, part))[:2_000] for part in parts]
    return [line for line in lines if line][:200]


def _free_texts(document: object) -> Iterator[str]:
    """Free texts about the person's work, wherever they are in the document."""
    for part in ("work", "projects", "volunteer"):
        for entry in _as_dicts(_as_dict(document).get(part)):
            yield _as_text(entry.get("summary"))
            yield _as_text(entry.get("description"))
            yield from _lines(entry.get("highlights"))


def _as_dict(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _as_dicts(value: object) -> list[dict[str, Any]]:
    return (
        [_as_dict(element) for element in cast(list[object], value)]
        if isinstance(value, list)
        else []
    )


def _lines(value: object) -> list[str]:
    lines = (
        [_as_text(element) for element in cast(list[object], value)]
        if isinstance(value, list)
        else []
    )
    return [line[:2_000] for line in lines if line]


def _as_text(value: object) -> str:
    """One line, without characters that a profile rejects."""
    text = value if isinstance(value, str) else ""
    return "".join(mark if mark.isprintable() else " " for mark in text).strip()
