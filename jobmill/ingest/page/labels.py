"""Labels and what stands beside them: "Location: Berlin", in whatever markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, TypeAlias

from selectolax.lexbor import LexborNode

from jobmill.ingest.page.lines import Line, Run
from jobmill.ingest.page.words import squeeze

Field: TypeAlias = Literal[
    "title", "company", "location", "city", "state", "country", "posted", "updated", "until",
    "kind", "pay", "number", "team", "mode", "other",
]  # fmt: skip

_SAID: dict[Field, str] = {
    "title": "job title|title|position|position title|posting title|job name|role|vacancy|"
    "vacancy title|job position|opening|stellenbezeichnung|stelle|jobtitel|intitulé du poste|poste|"
    "titre du poste|puesto|título del puesto|cargo|titolo|posizione|functie|functietitel|"
    "stanowisko",
    "company": "company|company name|company s name|employer|employer name|hiring company|"
    "organization|organisation|organization name|hiring organization|agency|advertiser|recruiter|client|"
    "posted by|job posted by|business name|firm|institution|offered by|firma|arbeitgeber|"
    "unternehmen|entreprise|société|employeur|empresa|azienda|bedrijf|werkgever|organisatie|"
    "företag|arbetsgivare|virksomhed|pracodawca|empregador",
    "location": "location|locations|location s|job location|job locations|work location|city state|"
    "city and state|location city state|city state zip|city state country|place of work|"
    "position location|primary location|work site|worksite|office location|based in|area|where|"
    "place|standort|standorte|ort|arbeitsort|einsatzort|dienstort|lieu|lieu de travail|"
    "localisation|ubicación|lugar|lugar de trabajo|localidad|luogo|luogo di lavoro|sede|"
    "sede di lavoro|località|locatie|standplaats|plaats|localização|local de trabalho|arbetsort|"
    "arbejdssted|miejsce pracy|lokalizacja",
    "city": "city|town|city town|stadt|ville|ciudad|città|stad|cidade|miasto",
    "state": "state|state province|province|state region|bundesland|provincia|estado",
    "country": "country|land|pays|país|paese",
    "posted": "posted|date posted|posted date|posted on|post date|posting date|job posted|date|"
    "job posted on|published|publication date|date published|published on|creation date|created|"
    "created on|date created|listed|listed on|date listed|open date|opening date|date opened|added|"
    "date added|first posted|online since|active since|veröffentlicht|veröffentlicht am|"
    "veröffentlichungsdatum|erschienen am|eingestellt am|online seit|datum|publié le|publiée le|"
    "date de publication|publicado|publicado el|fecha de publicación|fecha|pubblicato|"
    "pubblicato il|data di pubblicazione|geplaatst|geplaatst op|publicado em|data de publicação|"
    "publicerad|opublikowano|data publikacji",
    "updated": "updated|last updated|date updated|updated on|modified|last modified|aktualisiert",
    "until": "closing date|close date|apply by|application deadline|deadline|expires|expiry date|"
    "expiration date|valid through|valid until|closes|bewerbungsfrist|date limite|fecha límite|"
    "fecha de cierre|scadenza|sista ansökningsdag",
    "kind": "job type|employment type|position type|type of employment|employment|employee type|"
    "type|contract type|contract|job status|employment status|working time|anstellungsart|"
    "beschäftigungsart|vertragsart|arbeitszeit|type de contrat|contrat|tipo de contrato|"
    "jornada laboral|tipo di contratto|dienstverband|employment types|tax term|schedule",
    "pay": "salary|pay|compensation|base pay|salary range|pay rate|pay range|wage|rate|gehalt|"
    "vergütung|salaire|rémunération|salario|stipendio|retribuzione|salaris",
    "number": "job id|reference|ref|ref no|reference id|req id|requisition|requisition id|"
    "requisition number|job number|job no|job code|job reference|job reference code|job ref|"
    "reference number|reference code|position id|position number|vacancy number|posting id|"
    "ref code|ref id|ref number|job ref no|req|req no|req number|job posting number|opening id|"
    "kennziffer|referenznummer|référence|referencia|jobid|job req id",
    "team": "department|division|abteilung|departamento|département|service|afdeling",
    "mode": "workplace type|remote type|work type|work mode|modalidad de trabajo|arbeitsmodell|"
    "télétravail|work arrangement",
    # No field of ours, but where a value ends.
    "other": "category|job category|categories|industry|industries|sector|experience|education|"
    "required experience|required education|years of experience|skills|required skills|description|"
    "job description|requirements|qualifications|benefits|phone|fax|email|e mail|contact|"
    "contact name|contact person|website|web site|url|travel|travel required|relocation|"
    "required travel|career level|job function|function|duration|area code|length|telecommute|"
    "views|applicants|openings|number of openings|start date|vacantes|share|print|apply|zip|"
    "zip code|postal code|address|street|summary|overview|keywords|job level|level|tier|region",
}  # fmt: skip
_KNOWN: dict[str, Field] = {
    word: name for name, words in _SAID.items() for word in words.split("|")
}
# Labels nobody listed: a word that tells, and words that may stand with it.
_TELLING: dict[Field, tuple[str, str]] = {
    "until": ("closing deadline expires expiration", "date job application on the day"),
    "updated": ("updated modified update", "last date on job"),
    "posted": (
        "posted posting post listed published created creation added activated opened",
        "date job on was the this first originally day last",
    ),
    "location": (
        "location locations city worksite",
        "job work primary position state country province zip code office region s the area or and"
        " of postal metro town",
    ),
    "company": (
        "company employer organization organisation advertiser agency recruiter provider client",
        "name hiring the s posting or recruiting business staffing job firm",
    ),
    "title": ("title position vacancy", "job the name of posting"),
}
_COMPOSED: list[tuple[Field, frozenset[str], frozenset[str]]] = [
    (name, frozenset(telling.split()), frozenset(f"{telling} {beside}".split()))
    for name, (telling, beside) in _TELLING.items()
]
_ANY_TELLING = frozenset[str]().union(*(telling for _, telling, _ in _COMPOSED))
_MAY_BE_ELSE = (
    "title position role stelle date area place where local type agency recruiter poste puesto"
    " cargo datum fecha opening"
)
_VAGUE = frozenset(_MAY_BE_ELSE.split())
_WITH_COLON = frozenset(("recruiter", "service", "contract", "firm", "client"))
"""Labels that are as often values."""
_UNSAID = (
    "n a|na|none|not available|not specified|unspecified|not stated|not provided|see description|"
    "see ad|unknown|tbd|keine angabe|k a|nc|no especificado"
)
_NOTHING = frozenset(_UNSAID.split("|"))
_BAR = re.compile(r"\s+[|•·]\s+")
_WIDEST = 12
_LONGEST_CELL = 150
_EDGES = " \t|-\u2013\u2014•·,;:>»*"


@dataclass(frozen=True, slots=True)
class Pair:
    """What a label says, and how surely it is one (0 to 1)."""

    name: Field
    value: str
    surely: float
    at: int
    """The line that holds the value."""


def known(words: str) -> Field | None:
    """The field that these words are a label of."""
    return _field(words) if len(words) <= 40 else None


# The same few hundred words come on every page.
@lru_cache(maxsize=4_096)
def _field(words: str) -> Field | None:
    label = squeeze(words)
    if label in _WITH_COLON and not words.endswith(":"):
        return None
    return _KNOWN.get(label) or _composed(frozenset(label.split()))


def _composed(words: frozenset[str]) -> Field | None:
    if not 2 <= len(words) <= 4 or words.isdisjoint(_ANY_TELLING):
        return None
    for name, telling, beside in _COMPOSED:
        if words & telling and words <= beside:
            return name
    return None


def pairs(lines: list[Line]) -> list[Pair]:
    """All labels of fields that we know, with their values, in order."""
    found: list[Pair] = []
    names: list[Field | None] = [
        known(line.text) if ":" not in line.text[:-1] else None for line in lines
    ]
    heads: set[int] = set()
    for at, line in enumerate(lines):
        row = _row(line) if names[at] else None
        if row and row.mem_id in heads:
            continue
        if row and (told := _columns(row, lines, at)):
            heads.add(row.mem_id)
            found += told
        elif names[at]:
            found += _beside(lines, names, at)
        elif len(line.text) < 300 and (":" in line.text or len(line.runs) > 1):
            found += _inside(line, at)
    return _in_company([pair for pair in found if pair.value])


def _in_company(found: list[Pair]) -> list[Pair]:
    """Labels come in groups: one that stands alone, as in running text, is less sure."""
    kept: list[Pair] = []
    for n, pair in enumerate(found):
        near = found[max(0, n - 3) : n] + found[n + 1 : n + 4]
        group = any(one.name != pair.name and abs(one.at - pair.at) <= 6 for one in near)
        # Braces: a template that the page's program has yet to fill.
        empty = squeeze(pair.value) in _NOTHING or ("{" in pair.value and "}" in pair.value)
        if pair.name != "other" and not empty:
            kept.append(pair if group else replace(pair, surely=pair.surely - 0.3))
    return kept


def clean(value: str) -> str:
    """A value without what sets it apart from its neighbours."""
    return value.strip(_EDGES)


def _inside(line: Line, at: int) -> list[Pair]:
    """Label and value in one line: in one text with a colon, or in elements side by side."""
    found: list[Pair] = []
    label: tuple[Field, float] | None = None
    words: list[str] = []
    for run, text in _pieces(line):
        head, colon, tail = text.partition(":")
        name = known(head + colon)
        if name and (colon or _set_apart(line, run.tag)) and not run.link:
            _close(found, label, words, at)
            plain = bool(tail.strip()) or not colon
            label, words = (name, _sureness(head, plain=plain)), [tail] if tail.strip() else []
        elif label and _is_label(text):
            _close(found, label, words, at)
            label, words = None, []
        elif label and not (run.link and words):
            words.append(text)
    _close(found, label, words, at)
    return found


def _pieces(line: Line) -> Iterator[tuple[Run, str]]:
    for n, run in enumerate(line.runs):
        words = run.text
        # The colon may stand outside of the element that sets the label apart.
        if n and words.startswith(":"):
            words = words[1:].lstrip()
        if n + 1 < len(line.runs) and line.runs[n + 1].text.startswith(":"):
            words += ":"
        for text in _BAR.split(words) if ":" in words else (words,):
            if text:
                yield run, text


def _close(found: list[Pair], label: tuple[Field, float] | None, words: list[str], at: int) -> None:
    if label and words:
        value = clean(" ".join(words)).replace(" ,", ",")
        found.append(Pair(label[0], value, label[1], at))


def _set_apart(line: Line, tag: str) -> bool:
    """Whether a run without a colon can be a label: it must be an element of its own."""
    return len(line.runs) > 1 and tag in ("b", "strong", "span", "label", "em", "font", "small")


def _is_label(words: str) -> bool:
    return (words.endswith(":") and len(words) < 40) or known(words) is not None


def _is_another(line: Line, name: Field) -> bool:
    """Whether a line is or begins with a label, though not of the same field: a type of work may
    be "contract"."""
    head, colon, _ = line.text.partition(":")
    said = {known(line.text), known(line.runs[0].text), known(head + colon) if colon else None}
    return bool(said - {name, None}) or (line.text.endswith(":") and len(line.text) < 40)


def _sureness(label: str, *, plain: bool) -> float:
    """Less for words that may be a heading of something else, and for what nothing sets apart."""
    doubt = (3 if squeeze(label) in _VAGUE else 0) + (2 if plain else 0)
    return (10 - doubt) / 10


def _beside(lines: list[Line], names: list[Field | None], at: int) -> list[Pair]:
    """The label is a line of its own; its value is the next one, if the markup says so."""
    line, name = lines[at], names[at]
    if not name or line.linked or at + 1 == len(lines):
        return []
    # A colon may have a cell of its own.
    step = 2 if lines[at + 1].text == ":" and at + 2 < len(lines) else 1
    value = lines[at + step]
    if value.tag != "dd" and _is_another(value, name):
        return []
    # A heading over a group of facts may be said twice.
    if squeeze(value.text) == squeeze(line.text):
        return []
    colon = step == 2 or line.text.endswith(":")
    listed = line.tag in ("li", "body", "a", "button") and not colon
    if listed or not _follows(line.block, value.block):
        return []
    plain = not colon and line.tag not in ("dt", "th", "td", "label")
    return [Pair(name, _own_words(value), _sureness(line.text, plain=plain), at + step)]


def _own_words(line: Line) -> str:
    """The line without links that follow the value: "Acme [view all]"."""
    runs = line.runs
    if len(runs) < 2 or not any(run.link for run in runs[1:]):
        return clean(line.text)
    end = next(
        (
            n
            for n, run in enumerate(runs)
            if n and run.link and not runs[n - 1].text.endswith((",", ";", "/", "|", "and", "or"))
        ),
        len(runs),
    )
    return clean(" ".join(run.text for run in runs[:end]).strip(" [(")).replace(" ,", ",")


def _columns(row: LexborNode, lines: list[Line], at: int) -> list[Pair]:
    """A row of labels over a row of values."""
    below = _next_element(row)
    if not below or below.tag != "tr":
        return []
    near = {line.block.mem_id: line for line in reversed(lines[at : at + 3 * _WIDEST])}
    heads, values = _cells(row, near), _cells(below, near)
    labels = list(map(known, heads))
    told = sum(map(bool, labels))
    # A label beside its value makes half of a row labels, too.
    if told < 2 or 2 * told <= len(heads) or len(values) != len(heads):
        return []
    if 2 * sum(known(words) is not None for words in values) >= told:
        return []
    return [
        Pair(name, clean(value), 0.8, at + len(heads))
        for name, value in zip(labels, values, strict=True)
        if name
    ]


def _row(line: Line) -> LexborNode | None:
    return line.block.parent if line.tag in ("td", "th") else None


def _cells(row: LexborNode, near: dict[int, Line]) -> list[str]:
    """What the first lines of a row's cells say; nothing for what is no row of facts."""
    cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
    texts = [
        _own_words(near[cell.mem_id]) if cell.mem_id in near else "" for cell in cells[:_WIDEST]
    ]
    return texts if all(len(text) < _LONGEST_CELL for text in texts) else []


def _follows(label: LexborNode, value: LexborNode) -> bool:
    """Whether the value's block is the label's own, or lies in what comes right after it."""
    if label.mem_id == value.mem_id:
        return True
    node: LexborNode | None = label
    for _ in range(3):
        after = _next_element(node) if node else None
        if after:
            return _lies_in(value, after) or _behind_gap(after, value)
        node = node.parent if node else None
    return False


def _behind_gap(gap: LexborNode, value: LexborNode) -> bool:
    """Whether the value lies in the cell behind one that is there for the looks only."""
    if gap.tag != "td" or gap.text().strip() not in ("", ":"):
        return False
    after = _next_element(gap)
    return after is not None and _lies_in(value, after)


def _next_element(node: LexborNode) -> LexborNode | None:
    after = node.next
    for _ in range(6):
        if after is None or not (after.tag or "-").startswith("-"):
            return after
        after = after.next
    return None


def _lies_in(node: LexborNode, outer: LexborNode) -> bool:
    inner: LexborNode | None = node
    for _ in range(8):
        if inner is None:
            return False
        if inner.mem_id == outer.mem_id:
            return True
        inner = inner.parent
    return False
