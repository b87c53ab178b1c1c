"""Read the schools and degrees in a resume."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from jobmill.matching.master_resume import EducationEntry

from . import date_ranges, entry_lines
from .built_entry import build_entry
from .date_ranges import DatedPeriod
from .entry_header import is_place
from .experience_lines import REFERENCES
from .work_history import BULLET

MAX_ENTRIES: Final = 50
SHORT_DEGREE: Final = (
    r"(?:B|M|D)\.?\s?(?:Sc|Eng|Ed|Phil|Tech|Com|Arch|Des|Mus|Pharm|Nurs)\.?|B\.?A\.?|M\.?A\.?|B\.?S\.?N?\.?|M\.?S\.?N?\.?"
    r"|MBA|M\.?B\.?A\.?|Ph\.?\s?D\.?|LL\.?[BMD]\.?|J\.?D\.?|MD|M\.D\.|DDS|DVM|BBA|BFA|MFA|MPH|MSW|BSW|BPharm|PharmD"
    r"|ADN|A\.?A\.?S?\.?|A\.?S\.?|PGCE|HND|HNC|BTEC|GCSEs?|A[- ]Levels?|NVQ(?: Level \d)?|GED|BCL|BDes|BEd|MEd|MRes|MArch|CPE|DEC|BTS|DUT|CAP|BEP"
)
DEGREE: Final = re.compile(
    rf"^(?P<short>{SHORT_DEGREE})(?:\s?\(?Hons\)?\.?)?(?![\w.])"
    r"|\b(?:bachelor(?:['\u2019]?s)?|master(?:['\u2019]?s)?|doctor(?:ate)?|associate(?:['\u2019]?s)?(?= (?:degree|of))|diploma|degree"
    r"|certificate|apprenticeship|abitur|matura|fachabitur|mittlere reife|studium|ausbildung (?:als|zu[mr])|lehre (?:als|zu[mr])|staatsexamen"
    r"|magister|diplom(?:-\w{3,30})?|licence|licenciatura|grado|máster|mastère|doctorat|baccalauréat|bac(?: pro)?|cap|bts"
    r"|bachillerato|técnico|high school diploma|ged|leaving certificate|nvq|foundation degree|minor)\b",
    re.IGNORECASE,
)
SCHOOL: Final = re.compile(
    r"\b(?:universit\w{1,5}|université|universidad|college|school|academy|akademie|institut\w{0,3}|polytechni\w{1,4}|seminary"
    r"|\w{0,20}hochschule|\w{0,20}schule|\w{0,10}gymnasium|lycée|école|ecole|collège|instituto|escuela|facult\w{1,4}"
    r"|bootcamp|conservatory|(?-i:MIT|ETH|EPFL|UCLA|TU|FH|IUT|CFA))\b",
    re.IGNORECASE,
)
GRADE: Final = re.compile(
    r"\(?\b(?:(?:C?GPA|grade|final grade|(?:abschluss|gesamt)?note|average|moyenne|nota media)\b\s*:?\s*[\d.,]{1,5}(?:\s?/\s?[\d.,]{1,4})?"
    r"|(?:upper |lower )?(?:first|second|third)[- ]class(?: honou?rs)?(?:\s?\(?\d:\d\)?)?|(?<![\d:])2:[12](?![\d:])"
    r"|(?:summa |magna )?cum laude|with (?:high )?(?:distinction|honou?rs|merit)|distinction|merit"
    r"|mention (?:très bien|assez bien|bien))\b\)?",
    re.IGNORECASE,
)
FIELD: Final = re.compile(
    r"^(?P<degree>.*?\b(?:degree|bachelor(?:['\u2019]?s)?|master(?:['\u2019]?s)?|certificate|diploma|of (?:arts|science|engineering|education"
    r"|fine arts|applied science|business administration|laws|philosophy|technology|commerce)|licence|licenciatura|grado"
    r"|máster|mastère|doctorat|bts|bac pro|cap|studium|diplom))\s?(?:\([^)]{1,20}\)\s?)?(?:in|en|der|des|:|,|\u2013|-)\s+(?P<field>\S.*)$",
    re.IGNORECASE,
)
LABEL: Final = re.compile(r"^(?:speciali[sz]ation|major|field(?: of study)?|schwerpunkt|fachrichtung|spécialité)\s?:\s*", re.IGNORECASE)  # fmt: skip
GENERAL_DEGREE: Final = re.compile(r"\b(?:degree|bachelor(?:['\u2019]?s)?|master(?:['\u2019]?s)?|diploma|of (?:arts|science|education|engineering))$", re.IGNORECASE)  # fmt: skip
EXPECTED: Final = re.compile(r"\b(?:expected|anticipated|graduated|graduation|voraussichtlich|class of|awarded|completed)\b:?", re.IGNORECASE)  # fmt: skip
SEGMENT: Final = re.compile(r"\s*[|•·\t;]\s*|\s+[-\u2013\u2014]+\s+|\s*\u2014\s*|\s{2,}")
EDGES: Final = " ,:;*_\u2013\u2014-|\u200b"


@dataclass(slots=True)
class _School:
    """What the lines of one entry say."""

    period: DatedPeriod | None = None
    institution: str = ""
    degree: str = ""
    area: str = ""
    """The field of study."""
    grade: str = ""
    others: list[str] = field(default_factory=list[str])
    points: list[str] = field(default_factory=list[str])

    def is_followed_by(self, new: _School) -> bool:
        """Whether the new line starts another entry: it repeats something that this one has."""
        return bool(
            (new.institution and self.institution)
            or (new.degree and self.degree)
            or (new.period and self.period)
        )


def find_education(lines: Sequence[str]) -> list[EducationEntry]:
    """Every entry that names an institution, in the order of the resume."""
    entries = (_build(school) for school in _group(entry_lines.clean_lines(lines)))
    return [entry for entry in entries if entry][:MAX_ENTRIES]


def _group(lines: Sequence[str]) -> list[_School]:
    schools: list[_School] = []
    width = entry_lines.line_width(lines)
    was_blank, previous = True, ""
    for line in lines:
        text = line[: entry_lines.MAX_LINE_LENGTH].strip()
        if not text or REFERENCES.match(text):
            was_blank = True
            continue
        new = _read_line(BULLET.sub("", text))
        is_point = bool(BULLET.match(line)) and not (new.period or new.institution)
        says_something = bool(new.period or new.institution or new.degree)
        if schools and (is_point or (not says_something and not was_blank)):
            _add_text(schools[-1], BULLET.sub("", text), previous, width, is_point=is_point)
        elif (
            not schools
            or schools[-1].is_followed_by(new)
            or (was_blank and _is_complete(schools[-1]))
        ):
            schools.append(new)
        else:
            _merge(schools[-1], new)
        was_blank, previous = False, text
    return schools


def _is_complete(school: _School) -> bool:
    return bool(school.institution or school.others) and bool(school.degree or school.period)


def _add_text(school: _School, text: str, previous: str, width: int, *, is_point: bool) -> None:
    if label := LABEL.match(text):
        school.area = school.area or text[label.end() :].strip(EDGES + ".")
    elif (grade := GRADE.search(text)) and not school.grade and len(text.split()) < 8:
        school.grade = grade.group().strip("() ")
    elif school.points and not is_point and entry_lines.continues(text, previous, width):
        school.points[-1] += f" {text}"
    elif not is_point and not school.institution and not school.others and len(text.split()) <= 8:
        school.others.append(text.strip(EDGES))
    else:
        school.points.append(text)


def _merge(school: _School, new: _School) -> None:
    school.period = school.period or new.period
    for name in ("institution", "degree", "area", "grade"):
        setattr(school, name, getattr(school, name) or getattr(new, name))
    school.others += new.others
    school.points += new.points


def _read_line(text: str) -> _School:
    school = _School()
    text = EXPECTED.sub(" ", text)
    if grade := GRADE.search(text):
        school.grade = grade.group().strip("() ")
        text = f"{text[: grade.start()]}\t{text[grade.end() :]}"
    if dated := date_ranges.find_period(text):
        school.period, text = dated
    elif point := date_ranges.find_point(text):
        school.period, text = DatedPeriod(None, point[0]), point[1]
    for segment in SEGMENT.split(text.replace("()", " ")):
        _read_segment(school, segment.strip(EDGES))
    return school


def _read_segment(school: _School, segment: str) -> None:
    """A part of a line; commas inside it separate degree, field and institution."""
    if not segment:
        return
    parts = [part.strip(EDGES) for part in re.split(r",(?![^()]*\))", segment)]
    for part in _join_places(filter(None, parts)):
        if not school.degree and (DEGREE.search(part) and not _is_school_first(part)):
            school.degree, school.area = _split_degree(part)
        elif not school.institution and SCHOOL.search(part):
            school.institution = part
        elif _takes_field(school) and not is_place(part):
            school.area = part
        elif school.institution and is_place(part, any_city=True):
            school.institution += f", {part}"
        else:
            school.others.append(part)


def _takes_field(school: _School) -> bool:
    """Whether the part after the degree is its field: "BSc, Biology", but not "Abitur, Bonn"."""
    short = DEGREE.match(school.degree)
    is_general = bool(short and short["short"]) or GENERAL_DEGREE.search(school.degree)
    return bool(is_general) and not school.area and not school.institution


def _join_places(parts: Iterable[str]) -> Iterator[str]:
    """Parts of one place stay together: "Boston, MA"."""
    waiting = ""
    for part in parts:
        if waiting and not SCHOOL.search(waiting) and is_place(f"{waiting}, {part}", any_city=True):
            yield f"{waiting}, {part}"
            waiting = ""
            continue
        if waiting:
            yield waiting
        waiting = part
    if waiting:
        yield waiting


def _is_school_first(part: str) -> bool:
    """ "Master School Berlin" is an institution; "Diploma, High School" is not."""
    degree, school = DEGREE.search(part), SCHOOL.search(part)
    return bool(school and degree and school.start() < degree.start() and not degree["short"])


def _split_degree(text: str) -> tuple[str, str]:
    """Degree and field: "BSc Computer Science", "Master of Science in Nursing"."""
    if match := FIELD.match(text):
        return match["degree"].strip(EDGES), match["field"].strip(EDGES)
    match = DEGREE.match(text)
    if match and match["short"]:
        rest = text[match.end() :].strip(EDGES)
        rest = re.sub(r"^(?:degree )?(?:in|of|en) ", "", rest, flags=re.IGNORECASE)
        return text[: match.end()].strip(EDGES), rest
    return text, ""


def _build(school: _School) -> EducationEntry | None:
    others = [text for text in school.others if text]
    institution = school.institution or (others.pop(0) if others and (school.degree or school.period) else "")  # fmt: skip
    # Dates beside other words could be anything.
    if not institution or not (school.institution or school.degree) or is_place(institution):
        return None
    institution = re.sub(r"^(?:in|at|from|an der) ", "", institution).rstrip(".")
    degree = school.degree or (others.pop(0) if others else "")
    period = school.period or DatedPeriod(None, None)
    return build_entry(
        EducationEntry,
        start=period.start,
        end=period.end,
        institution=institution,
        degree=degree,
        field=school.area.rstrip("."),
        grade=school.grade,
        highlights=[text[:2_000] for text in [*others, *school.points]][:200],
    )
