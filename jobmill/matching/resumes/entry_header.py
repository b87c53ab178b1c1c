"""Tell title, employer and place apart in the lines at the top of an entry of a resume."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from jobmill.places import gazetteer

from . import contact_lines
from .work_history import ROLE, ROLE_WORD

SEGMENT: Final = re.compile(r"\s*[|•·\t;]\s*|\s+[-\u2013\u2014]+\s+|\s*\u2014\s*|\s{3,}")
"""Between parts of a line. A comma may also be inside a part."""
AT: Final = re.compile(r"\s+(?:at|@|bei|chez)\s+|^(?:at|@|bei|chez)\s+")
BRACKETS: Final = re.compile(r"\s*\(([^()]{1,80})\)")
DURATION: Final = re.compile(
    r"\(?\b\d{1,2}\s?(?:years?|yrs?|months?|mos?|Jahre?|Monate?|ans?|mois)\b"
    r"(?:[\s,]{1,3}\d{1,2}\s?(?:months?|mos?|Monate?|mois)\b)?\s?\)?",
    re.IGNORECASE,
)
LABEL: Final = re.compile(
    r"^(?:(?P<title>position|(?:job )?title|role|funktion|poste|puesto|tätigkeit)"
    r"|(?P<employer>employer|company|organi[sz]ation|firma|arbeitgeber|unternehmen|entreprise|empresa)"
    r"|(?P<place>location|place|ort|lieu)|dates?|period|duration|zeitraum)\s?:\s*",
    re.IGNORECASE,
)
LEGAL_FORM: Final = re.compile(
    r"\b(?:inc|llc|l\.l\.c|ltd|limited|gmbh|ag|kg|ug|se|plc|llp|lp|corp(?:oration)?|co|company|s\.?a\.?r\.?l"
    r"|s\.?a\.?s?|s\.?l\.?u?|bv|nv|ab|oy|aps|srl|spa|pty|e\.?v)\b\.?(?:\s\(\w{2,20}\))?$",
    re.IGNORECASE,
)
EMPLOYER_WORD: Final = re.compile(
    r"\b(?:hospitals?|hospice|infirmary|surgery|clinics?|\w{0,12}klinik(?:um)?|health(?:care)?|medical|nhs|trust|schools?|university|universität"
    r"|college|academy|institut(?:e|ion)?|primary|elementary|kindergarten|nursery|\w{0,12}schule|gymnasium|école|lycée"
    r"|collège|banks?|bank|sparkasse|insurance|hotels?|inn|resort|restaurant|ristorante|trattoria|bistro|brasserie"
    r"|café|cafe|bakery|kitchens?|catering|foods?|farms?|logistics?|freight|transport|airlines?|airways|motors"
    r"|automotive|construction|builders|electric|energy|power|plumbing|services|solutions|systems|technolog(?:y|ies)"
    r"|software|labs?|laborator(?:y|ies)|studios?|media|group|gruppe|groupe|holdings?|partners|associates|consulting"
    r"|consultants|agency|agentur|agence|council|county|city of|ministry|department|bureau|foundation|association"
    r"|society|church|museum|library|theatre|theater|stores?|supermarket|market|retail|pharmacy|pharma\w{0,10}|care"
    r"|centre|center|ventures|capital|networks?|industries|manufacturing|works|werke?|brothers|bros|sons|international"
    r"|agencia|estudio|taller|cabinet|atelier|clínica|banco|escuela|colegio|tienda|fabri(?:k|que|ca)|praxis|kanzlei|bäckerei|verein|stadt|court|army|navy|police|airport|global|enterprises|salon|spa|gym|fitness|club|house)\b",
    re.IGNORECASE,
)
LEVEL_FIRST: Final = re.compile(
    r"^(?:senior|junior|sr|jr|lead|head|chief|deputy|assistant|associate|trainee|apprentice|principal"
    r"|staff|interim|freelance|self-employed|volunteer|vice|regional|acting|co-?founder|founder|owner"
    r"|leitende[rn]?|auszubildende[rn]?)\b",
    re.IGNORECASE,
)
ROLE_ENDING: Final = re.compile(
    r"(?:[^\W\d_]{2,}(?:er|or|ist|ian|yst|eur|euse|ière|ant|erin|eurin|istin|nist|smith|keeper|man|woman))$"
    r"|^[^\W\d_]{3,}(?:er|or|ist|ian|ier|ière|eur|euse)\s(?:of|de|für|in)\s",
    re.IGNORECASE,
)
SIDE_NOTE: Final = re.compile(
    r"(?:full|part)[- ]time|contract|permanent|temporary|freelance|internship|seasonal|vollzeit|teilzeit|cdi|cdd",
    re.IGNORECASE,
)
REMOTE: Final = re.compile(r"(?:fully |100% )?remote(?: work)?|home ?office|hybrid|on-?site", re.IGNORECASE)  # fmt: skip
CITY: Final = re.compile(r"[^\W\d_][^\d@/:&()]{1,40}")
EDGES: Final = " ,:;*_\u2013\u2014-\u200b"


class EntryHeader(NamedTuple):
    title: str | None = None
    employer: str | None = None
    location: str | None = None
    notes: tuple[str, ...] = ()
    """Other parts of the lines, such as "part-time"."""
    is_certain: bool = False
    """Whether words show which part is the title or the employer; otherwise their order decides."""
    title_first: bool = True


class _Segment(NamedTuple):
    text: str
    kind: str = ""
    """`title` or `employer` if a label or "at" says so."""

    @property
    def weight(self) -> int:
        """How much more the text looks like a title than like an employer."""
        if self.kind:
            return 9 if self.kind == "title" else -9
        return title_weight(self.text) - employer_weight(self.text)


def title_weight(text: str) -> int:
    bare = BRACKETS.sub("", text).strip()
    first = bare.partition(",")[0]
    level = 2 if LEVEL_FIRST.match(bare) else 0
    if ROLE.search(bare) or ROLE.search(first):
        return 3 + level
    if ROLE_WORD.search(bare):
        return 2 + level
    return level or int(bool(ROLE_ENDING.search(bare)))


def employer_weight(text: str) -> int:
    bare = BRACKETS.sub("", text).strip()
    if LEGAL_FORM.search(bare):
        return 4
    return 2 if EMPLOYER_WORD.search(bare) else int("&" in bare)


def read_header(lines: Sequence[str], *, title_first: bool = True) -> EntryHeader:
    """Read lines without their dates. `title_first`: the order of parts that no word tells
    apart."""
    location, segments, notes = "", list[_Segment](), list[str]()
    for text, kind in (part for line in lines for part in _split_segments(line)):
        text, place = (text, "") if kind == "title" else _split_place(text)
        if kind == "place":
            text, place = "", text or place
        location = location or place
        if SIDE_NOTE.fullmatch(text):
            notes.append(text)
        elif text:
            segments.append(_Segment(text, kind))
    title, employer, rest, certain, first = _assign(segments, title_first=title_first)
    if not location:
        employer, location = _split_unknown_city(employer)
    for text in rest:
        if not location and is_place(text, any_city=True):
            location = text
        else:
            notes.append(text)
    return EntryHeader(title or None, employer or None, location or None, tuple(notes), certain, first)  # fmt: skip


def _split_segments(line: str) -> list[tuple[str, str]]:
    """The parts of a line, each with its kind if a label or "at" tells it."""
    line = DURATION.sub("\t", contact_lines.URL.sub("\t", line))
    places = [text for text in BRACKETS.findall(line) if is_place(text, any_city=True)]
    for place in places:
        line = line.replace(f"({place})", f"\tlocation: {place}\t")
    parts: list[tuple[str, str]] = []
    for segment in SEGMENT.split(line):
        label = LABEL.match(segment.strip(EDGES + "()"))
        kind = (label.lastgroup or "note") if label else ""
        bare = LABEL.sub("", segment.strip(EDGES))
        before, at, after = _partition_at(bare) if not kind else (bare, "", "")
        for text, part_kind in ((before, kind), (after, "employer" if at else "")):
            text = trim_part(text)
            if text and part_kind != "note":
                parts.append((text, part_kind))
    return parts


def _partition_at(text: str) -> tuple[str, str, str]:
    match = AT.search(text)
    return (text[: match.start()], "at", text[match.end() :]) if match else (text, "", "")


def trim_part(text: str) -> str:
    text = text.strip(EDGES)
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    if text.count(")") > text.count("("):
        text = text.rstrip(")")
    if text.count("(") > text.count(")"):
        text = text.rstrip("(")
    return text.strip(EDGES) if LEGAL_FORM.search(text) else text.strip(EDGES + ".")


def _assign(
    segments: list[_Segment], *, title_first: bool
) -> tuple[str, str, list[str], bool, bool]:
    """Title, employer, other parts, whether words decided, and whether the title came first."""
    if len(segments) == 1 and not segments[0].kind:
        segments = _split_commas(segments[0].text)
    if not segments:
        return "", "", [], False, title_first
    weights = [segment.weight for segment in segments]
    certain = max(weights) > 0 or min(weights) < 0
    if len(segments) == 1:
        text = segments[0].text
        is_title = weights[0] > 0 or (not certain and title_first)
        return (
            (text, "", [], False, title_first) if is_title else ("", text, [], False, title_first)
        )
    order = range(len(segments)) if title_first else reversed(range(len(segments)))
    title = max(order, key=lambda place: weights[place])
    others = [place for place in range(len(segments)) if place != title]
    # The part beside the title is the employer, unless another one looks more like it.
    employer = min(others, key=lambda place: (weights[place], abs(place - title)))
    if weights[employer] > 2:
        # Two titles and no employer.
        return segments[title].text, "", [segments[place].text for place in others], False, title_first  # fmt: skip
    rest = [segments[place].text for place in others if place != employer]
    first = title < employer
    return segments[title].text, segments[employer].text, rest, certain, first


def _split_commas(text: str) -> list[_Segment]:
    """Split "Registered Nurse, ICU, Alder Hospital" into title and employer."""
    parts = [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]
    joined: list[str] = []
    for part in parts:
        if joined and LEGAL_FORM.fullmatch(part):
            joined[-1] += f", {part}"
        else:
            joined.append(part)
    if len(joined) < 3:
        return [_Segment(part) for part in joined]
    weights = [title_weight(part) - employer_weight(part) for part in joined]
    if weights[0] >= weights[-1]:
        # The employer starts with the first part that looks like one, else it is the last part.
        last = 1 if len(joined) == 3 and _is_city_after(joined[2], joined[1]) else len(joined) - 1
        start = next((n for n, weight in enumerate(weights) if n and weight < 0), last)
        return [_Segment(", ".join(joined[:start])), _Segment(", ".join(joined[start:]))]
    start = max(range(1, len(joined)), key=lambda n: weights[n])
    return [_Segment(", ".join(joined[:start])), _Segment(", ".join(joined[start:]))]


def _split_place(text: str) -> tuple[str, str]:
    """Cut a place off the end: "Wells & Co, Boston, MA"."""
    parts = [part.strip() for part in text.split(",")]
    for count in (3, 2, 1):
        place = ", ".join(parts[-count:])
        before = len(parts) - count
        if before >= 0 and is_place(place, any_city=before > 0 or count > 1):
            rest = ", ".join(parts[:before])
            if count == 1 and rest:
                rest, place = _take_last_city(rest, place)
            return (rest, place) if rest or not _could_be_employer(place) else (text, "")
    return text, ""


def _take_last_city(rest: str, area: str) -> tuple[str, str]:
    """ "Bayou Hospital Houston", "TX": PDF files lose the gap between an employer and its city."""
    name, _, city = rest.rpartition(" ")
    ends_before = LEGAL_FORM.search(name) or EMPLOYER_WORD.search(name.rpartition(" ")[2])
    is_area = bool(gazetteer.find_area(area)) and not gazetteer.country_of_city(area)
    if name and is_area and CITY.fullmatch(city) and not employer_weight(city) and ends_before:
        return name, f"{city}, {area}"
    return rest, area


def _split_unknown_city(employer: str) -> tuple[str, str]:
    """ "Hotel Bellevue, Annecy": what follows the name of an employer is usually its city."""
    name, comma, city = employer.rpartition(", ")
    return (name, city) if comma and _is_city_after(city, name) else (employer, "")


def _is_city_after(text: str, name: str) -> bool:
    """Whether a text after the name of an employer can be its city."""
    words = text.split()
    if not CITY.fullmatch(text) or not text[0].isupper() or len(words) > 3:
        return False
    if title_weight(text) > 1 or employer_weight(text) or LEGAL_FORM.fullmatch(text):
        return False
    return bool(employer_weight(name)) or len(words) < len(name.split()) or len(words) == 1


def _could_be_employer(place: str) -> bool:
    return bool(LEGAL_FORM.search(place) or ROLE.search(place))


def is_place(text: str, *, any_city: bool = False) -> bool:
    """Whether a text is a city, an area or both. `any_city`: also a small city, and before the name
    of an area any name."""
    if REMOTE.fullmatch(text):
        return True
    words = [word.strip(" .") for word in text.split(",")]
    if not 0 < len(words) <= 3 or not all(word and CITY.fullmatch(word) for word in words):
        return False
    if not words[0][0].isupper():
        return False
    areas = [bool(gazetteer.find_area(word)) for word in words]
    names = [word for word, is_area in zip(words, areas, strict=True) if not is_area]
    if any(title_weight(word) > 1 or employer_weight(word) for word in names):
        return False
    if len(words) == 1:
        is_large = areas[0] or bool(gazetteer.country_of_city(words[0]))
        return is_large or (any_city and _is_known_city(words[0]))
    if not all(areas[1:]):
        # "Israel, Rehovot": the area comes first.
        return areas[0] and len(words) == 2 and (any_city or _is_known_city(words[1]))
    # "Acme, Berlin": Berlin is also a state, and Acme could be anything.
    is_clear = not gazetteer.is_city_and_area(gazetteer.canonical_name(words[1]))
    return _is_known_city(words[0]) or (any_city and is_clear)


def _is_known_city(name: str) -> bool:
    return bool(gazetteer.country_of_city(name)) or gazetteer.is_place_name(
        gazetteer.canonical_name(name)
    )
