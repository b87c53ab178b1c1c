"""The labels of posting fields, in several languages."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

from .text_checks import normalize

FieldName: TypeAlias = Literal[
    "title", "company", "location", "city", "state", "country", "posted", "updated", "until",
    "kind", "pay", "number", "team", "mode", "other", "section",
]  # fmt: skip

_LABELS: dict[FieldName, str] = {
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
    # Not fields of a posting, but they end the value before them.
    "other": "category|job category|categories|industry|industries|sector|experience|education|"
    "required experience|required education|years of experience|phone|fax|email|e mail|contact|"
    "contact name|contact person|website|web site|url|travel|travel required|relocation|"
    "required travel|career level|job function|function|duration|area code|length|telecommute|"
    "views|applicants|openings|number of openings|start date|vacantes|share|print|apply|zip|"
    "zip code|postal code|address|street|summary|overview|keywords|job level|level|tier|region|end date",
    # Headings of the text; they do not belong to a group of labels.
    "section": "skills|required skills|description|job description|requirements|qualifications|"
    "benefits|job requirements|responsibilities|duties",
}  # fmt: skip
_FIELD_BY_LABEL: dict[str, FieldName] = {
    word: name for name, words in _LABELS.items() for word in words.split("|")
}
# Labels that are not listed: a word that names the field, and words that may accompany it.
_LABEL_WORDS: dict[FieldName, tuple[str, str]] = {
    "until": ("closing deadline expires expiration", "date job application on the day"),
    "updated": ("updated modified update", "last date on job"),
    "posted": (
        "posted posting post listed published created creation added activated opened",
        "date job on was the this first originally day last",
    ),
    "location": (
        "location locations city worksite",
        "job work primary position state country province zip code office region s the area or of",
    ),
    "company": (
        "company employer organization organisation advertiser agency recruiter provider client",
        "name hiring the s posting or recruiting business staffing job firm",
    ),
    "title": ("title position vacancy", "job the name of posting"),
}
_LABEL_RULES: list[tuple[FieldName, frozenset[str], frozenset[str]]] = [
    (name, frozenset(telling.split()), frozenset(f"{telling} {beside}".split()))
    for name, (telling, beside) in _LABEL_WORDS.items()
]
_ANY_LABEL_WORD = frozenset[str]().union(*(telling for _, telling, _ in _LABEL_RULES))
_AMBIGUOUS_LABELS = (
    "title position role stelle date area place where local type agency recruiter poste puesto"
    " cargo datum fecha opening"
)
_AMBIGUOUS = frozenset(_AMBIGUOUS_LABELS.split())
_LABEL_ONLY_WITH_COLON = frozenset(("recruiter", "service", "contract", "firm", "client"))
"""Labels only if a colon follows; otherwise they may be values."""


def field_of_label(words: str) -> FieldName | None:
    """The field that these words label."""
    return _find_field(words) if len(words) <= 40 else None


# Every page repeats the same few hundred words.
@lru_cache(maxsize=4_096)
def _find_field(words: str) -> FieldName | None:
    label = normalize(words)
    if label in _LABEL_ONLY_WITH_COLON and not words.endswith(":"):
        return None
    return _FIELD_BY_LABEL.get(label) or _field_of_words(frozenset(label.split()))


def _field_of_words(words: frozenset[str]) -> FieldName | None:
    if not 2 <= len(words) <= 4 or words.isdisjoint(_ANY_LABEL_WORD):
        return None
    for name, telling, beside in _LABEL_RULES:
        if words & telling and words <= beside:
            return name
    return None


def is_ambiguous(label: str) -> bool:
    """Whether a label may also be the heading of something else."""
    return normalize(label) in _AMBIGUOUS
