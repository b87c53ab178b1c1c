"""Determine the seniority of a posting from its title or a label."""

from __future__ import annotations

import re

from jobmill.catalog.posting import Seniority

_LABELS: dict[str, Seniority | None] = {
    "student": "intern", "college": "intern", "trainee": "intern", "apprentice": "intern",
    "school": "intern",
    "entry": "entry", "entry level": "entry", "graduate": "entry", "beginner": "entry",
    "no experience": "entry",
    "associate": "entry", "junior": "junior", "mid": "mid", "mid level": "mid", "middle": "mid",
    "midweight": "mid", "intermediate": "mid",
    "experienced": "mid", "professional": "mid", "regular": "mid", "senior": "senior",
    "expert": "senior", "senior level": "senior",
    "lead": "lead", "staff": "staff", "principal": "principal", "manager": "manager",
    "management": "manager", "senior manager": "manager",
    "supervisor": "manager", "manager supervisor": "manager", "head": "director",
    "director": "director", "executive": "executive",
    "c level": "executive", "vp": "executive", "senior executive": "executive",
    "president": "executive",
    # These cover two levels, so the title decides.
    "mid senior": None, "mid senior level": None, "not applicable": None, "any": None, "all": None,
}  # fmt: skip

_ASSISTANT_ROLE = re.compile(
    r"\b(?:assistant|asst|secretary|advisor|assoc(?:iate)?|partner|support) to\b|\b(?:executive"
    r"|personal|administrative) (?:assistant|asst|secretary)\b"
    r"|\b(?:chief of staff|office of the)\b"
)
_INTERN = re.compile(
    r"\b(?:intern|interns|internship|trainee|traineeship|apprentice|apprenticeship|co-?op student"
    r"|praktikum|praktikant\w*|werkstudent\w*|working student"
    r"|stagiaire|alternance|alternant|azubi|auszubildende\w*|ausbildung|becari[oa]|prácticas"
    r"|estágio|estagiári[oa]|stagista|tirocinio|stażyst\w*|praktykant\w*"
    r"|stageplaats|student (?:(?:\w+ )?assistant|worker|position|job|employee))\b(?! (?:program"
    r"|coordinator|recruit|manager|relations))"
    r"|^stage\b(?! manager)|\bstudent(?: \([^)]*\))?(?:$|,)"
)
_EXECUTIVE = re.compile(
    r"(?<!assistant )\b(?:vice[- ]president|vp|svp|evp)\b|\bchief (?:[\w&-]+ ){1,4}?officer\b"
    r"|^(?:interim |deputy |group )?c[eftomirps]s?o\b(?! (?:group|office|staff))"
    r"|\((?:ceo|cto|cfo|coo|cmo|cio|cpo|ciso|cro)\)|^president\b|\bprovost\b|\bvice chancellor\b"
    r"|\bgeschäftsführ\w+|\bdirecteur général\b|\bdirector general\b"
)
_DIRECTOR = re.compile(
    r"\bdirectors?\b|\bdirect(?:eur|rice)\b|\bdirector[ae]?\b|\bdirettore\b|\bdyrektor\b"
    r"|\bhead of\b|\bhead,|\bdean\b|\bassistant vice president\b|\bavp\b"
    r"|\bbereichsleit\w+"
)
_PRINCIPAL = re.compile(
    r"(?<!assistant )(?<!vice )\b(?:principal|princ|distinguished)\b(?! investigator)"
)
_STAFF = re.compile(
    r"(?<!of )(?<!technical )\bstaff(?: [\w/&+.#-]+){0,3}? (?:engineer|developer|scientist|designer"
    r"|architect|analyst|researcher|sre|swe|programmer"
    r"|product manager|program manager|success manager)|\b(?:engineer|developer|scientist|designer"
    r"|analyst) staff\b|\bsenior staff\b|, staff\b"
)
_LEAD = re.compile(
    r"\blead\b(?![- ]*(?:gen\b|generation|qualif|nurtur|conversion|management|time|supervisor|free"
    r"|acquisition))|\bteam[- ]?leader\b|\bteamleit\w+"
    r"|\btech-?lead\b|\bteamlead\b"
)
_SENIOR = re.compile(
    r"\b(?:senior|sr|snr|sênior|sénior|starsz[ya])\b(?! (?:living|care|center|centre|services"
    r"|citizen|housing|communit|home|helper))"
)
_TWO_LEVELS = re.compile(
    r"(?<!\w)(?!(?:senior|sr))\w+ ?/ ?(?:sr|senior)\b\.? \w+|\bto (?:sr|senior)\b"
    r"|\bintermediate ?[\u2013-] ?senior"
)
_SENIOR_AND_ABOVE = re.compile(
    r"\b(?:senior|sr)\b[^/]*/ ?(?:lead|principal|staff)|\bsenior ?[\u2013-] ?principal"
)
_JUNIOR = re.compile(r"\b(?:junior|jr|júnior|młodsz[ya])\b")
_ENTRY = re.compile(
    r"\bentry[- ]?level\b|\bnew[- ]?grad(?:uate)?s?\b|\bearly[- ]career\b(?! to)"
    r"|^graduate\b(?! (?:research|teaching|admission|school|stud))|\bgraduate (?:program|scheme)"
    r"|\buniversity grad|\bcampus hire\b|\bberufseinsteiger\w*|\babsolvent\w*|\bdébutant"
)
_ASSOCIATE = re.compile(
    r"(?<!care )(?<!svcs )(?<!services )(?<!service )(?<!sales )(?<!store )(?<!retail )"
    r"(?<!warehouse )(?<!distribution )(?<!team )(?<!senior )\b(?:associate|assoc)\b"
    r"(?! (?:professor|general|attorney|vice|partner|principal|director|manager|editor|medical"
    r"|producer|pm|project))"
)
_MID = re.compile(
    r"\bmid(?:[- ]?(?:level|weight))?\b(?![- ](?:market|senior|atlantic|size|day|shift))"
    r"|\bintermediate\b|\bpleno\b|\bconfirmé"
)
_MANAGER = re.compile(r"(?<!assistant )\b(?:managers?|mgr|gerente|abteilungsleit\w+)\b(?! trainee)")
# Managers of things, not of people: the word describes the job, not the level.
_MANAGER_OF_THINGS = re.compile(
    r"\b(?:project|product|program(?:me)?|account|case|brand|community|customer success|success"
    r"|partner|partnerships?|relationship|influencer|content|social media"
    r"|communications?|change|delivery|activation|deployment|campaign|territory|release|marketing"
    r"|contract|client|event|category|asset|risk|bid|proposal"
    r"|property|technical|merchant|strategy|sales operations|marketing operations"
    r"|product operations|strategy (?:&|and) operations)"
    r"(?: (?:\w+ )?operations)? (?:manager|mgr)\b"
)
_ROMAN_NUMERAL = re.compile(
    r"(?<=[A-Za-z.)] )(I{1,3}|IV|V)(?=\s*(?:$|[,(\-\u2013\u2014|:_/]))|\b(?:Level|LEVEL) (I{1,3}"
    r"|[1-3])\b"
)
_FINAL_DIGIT = re.compile(r"\b([A-Za-z]{3,}) ([1-5])(?: [A-Z]{2,3})?$")
_NUMBERED_NOUNS = {
    "tier", "region", "phase", "level", "shift", "grade", "zone", "area", "unit", "team", "group",
    "district", "type", "class", "code", "partner",
    "section", "python", "angular", "vue", "java", "mule", "gen", "web", "unity", "stage", "part",
    "building", "site", "store",
}  # fmt: skip
_SEVERAL_NUMERALS = re.compile(r"\b(?:I|1) ?[/,&-] ?(?:II|2)\b.*|\bII ?/ ?III\b")
_GRADE = re.compile(r"\b(?:E([3-7])|IC ?-?([1-6]))\b")
_LEVEL_BY_NUMERAL: dict[str, Seniority] = {
    "I": "entry", "II": "mid", "III": "senior", "IV": "senior", "V": "senior",
    "1": "entry", "2": "mid", "3": "senior", "4": "senior", "5": "senior",
}  # fmt: skip
_LEVEL_BY_GRADE: dict[str, Seniority] = {
    "E3": "entry", "E4": "mid", "E5": "senior", "E6": "staff", "E7": "principal",
    "IC1": "entry", "IC2": "mid", "IC3": "mid", "IC4": "senior", "IC5": "staff", "IC6": "principal",
}  # fmt: skip


def from_label(label: object) -> Seniority | None:
    """The level for a label of a site ("entry_level", "Director"); None if it names no level, or
    two ("Mid-Senior Level")."""
    if not isinstance(label, str):
        return None
    key = " ".join(re.sub(r"[\W_]+", " ", label[:100].lower()).split())
    return _LABELS[key] if key in _LABELS else from_title(key)


def from_title(title: str) -> Seniority | None:
    """The level in a title, by words, Roman numerals or grades such as E5 and IC4. "Senior Manager"
    is a manager."""
    title = " ".join(title[:300].split())
    lower = title.lower().replace("sr.", "sr").replace("jr.", "jr")
    if _INTERN.search(lower):
        return "intern"
    return (
        _management_level(lower)
        or _level_by_word(lower)
        or _level_by_numeral(title)
        or ("entry" if _ASSOCIATE.search(lower) else None)
    )


def _management_level(title: str) -> Seniority | None:
    """Executives, directors and managers, but not their assistants."""
    if _ASSISTANT_ROLE.search(title):
        return None
    if _EXECUTIVE.search(title):
        return "executive"
    if _DIRECTOR.search(title) and "account director" not in title:
        return "director"
    if not _MANAGER.search(title) or _MANAGER_OF_THINGS.search(title):
        return None
    if _PRINCIPAL.search(title) or _STAFF.search(title):
        return None
    return "lead" if title.startswith("lead ") else "manager"


def _level_by_word(title: str) -> Seniority | None:
    if _SENIOR_AND_ABOVE.search(title):
        return "senior"
    above: tuple[tuple[re.Pattern[str], Seniority], ...] = (
        (_PRINCIPAL, "principal"), (_STAFF, "staff"), (_LEAD, "lead"),
    )  # fmt: skip
    for pattern, level in above:
        if pattern.search(title):
            return level
    if _SENIOR.search(title):
        return None if _TWO_LEVELS.search(title) else "senior"
    below: tuple[tuple[re.Pattern[str], Seniority], ...] = (
        (_JUNIOR, "junior"), (_ENTRY, "entry"), (_MID, "mid"),
    )  # fmt: skip
    return next((level for pattern, level in below if pattern.search(title)), None)


def _level_by_numeral(title: str) -> Seniority | None:
    if _SEVERAL_NUMERALS.search(title):
        return None
    if match := _GRADE.search(title):
        return _LEVEL_BY_GRADE[f"E{match[1]}" if match[1] else f"IC{match[2]}"]
    if match := _ROMAN_NUMERAL.search(title):
        before = title[: match.start()].split()
        if before and before[-1].lower() in _NUMBERED_NOUNS:
            return None
        return _LEVEL_BY_NUMERAL[match[1] or match[2]]
    match = _FINAL_DIGIT.search(title)
    return (
        _LEVEL_BY_NUMERAL[match[2]] if match and match[1].lower() not in _NUMBERED_NOUNS else None
    )
