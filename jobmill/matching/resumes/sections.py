"""Split a resume into sections by their usual headings."""

from __future__ import annotations

import re
from typing import Final

HEADINGS: Final[dict[str, str]] = {
    "summary": r"(?:professional |career |executive )?(?:summary|profile|objective)|about(?: me)?"
    r"|(?:kurz)?profil|über mich|zusammenfassung|à propos(?: de moi)?|perfil(?: profesional)?|sobre mí",
    "skills": r"(?:(?:technical|core|key|top|professional|clinical|nursing|culinary|kitchen|legal|teaching"
    r"|classroom|warehouse|practical|relevant|special|other|hard|soft|computer) )?"
    r"(?:skills|competencies|technologies|expertise)|(?:areas|fields) of (?:expertise|practice)"
    r"|practice areas|special(?:i)?ties|skills summary"
    r"|(?:it-|edv-|fach)?kenntnisse|fähigkeiten|kompetenzen|compétences(?: techniques)?|habilidades",
    "work": r"(?:(?:professional|work|working|relevant|industry|teaching|clinical|nursing|legal|culinary|kitchen|military"
    r"|management|research|practical|driving|retail|hospitality|engineering|academic|career|recent|previous|selected) )?"
    r"(?:work )?(?:experience|background)|professional history|work record"
    r"|employment(?: history| record)?|(?:work|career) history|career|positions held"
    r"|beruf(?:s(?:erfahrung|praxis)|licher werdegang|liche (?:erfahrung(?:en)?|stationen|laufbahn))"
    r"|werdegang|praxiserfahrung|expériences?(?: professionnelles?)?|parcours(?: professionnel)?"
    r"|experiencia(?: (?:laboral|profesional))?",
    "projects": r"(?:personal |selected |side |key )?projects|projekte|projets|proyectos",
    "achievements": r"(?:key |selected )?(?:achievements|accomplishments|awards)"
    r"|auszeichnungen|distinctions|réalisations|logros",
    "education": r"education(?:al background)?|academic background|studies|(?:aus)?bildung"
    r"|bildungsweg|schulbildung|studium|(?:schulische|akademische) (?:aus)?bildung|formations?|études"
    r"|diplômes|educación|formación(?: académica)?|estudios",
    "person": r"contact(?: details| information)?|personal (?:details|information|data)"
    r"|persönliche (?:daten|angaben)|kontakt(?:daten)?|coordonnées|informations personnelles|état civil"
    r"|datos personales|contacto",
    "licences": r"(?:professional |driving |driver['\u2019]?s )?licen[cs](?:es?|ures?)"
    r"|(?:professional )?certifications?|certificates|credentials|bar admissions?|zertifikate|lizenzen"
    r"|führerscheine?|permis(?: de conduire)?|certificaciones",
    "languages": r"(?:spoken |foreign )?languages?|sprach(?:en|kenntnisse)|fremdsprachen|langues|idiomas",
    "other": r"interests|hobbies|publications|references"
    r"|volunteer(?:ing| experience| work)?|training|courses|links|internships?|military service"
    r"|additional information|weiterbildung(?:en)?|interessen"
    r"|hobbys|ehrenamt|referenzen|praktika|centres? d['\u2019]intérêts?|loisirs|bénévolat|stages"
    r"|intereses|referencias",
}
BESIDE: Final = r"tools|awards|honou?rs|activities|qualifications|expertise|interests|academics|preise|methoden|outils|herramientas"
"""Words that occur in headings only together with another heading word."""
HEADING: Final = re.compile(
    "(?:"
    + "|".join(f"(?P<{name}>{words})" for name, words in HEADINGS.items())
    + r")(?:\s?(?:and|und|et|y|&|/|,)\s?(?:"
    + "|".join([*HEADINGS.values(), BESIDE])
    + r"))?[\W_]*",
    re.IGNORECASE,
)
LETTER: Final = re.compile(r"[^\W_]")
SPACED: Final = re.compile(r"(?:\w )+\w")
"""E D U C A T I O N"""
MAX_HEADING_LENGTH: Final = 60
"""Longer lines are not headings; the limit also bounds the time of the regular expressions."""


def section_of_heading(line: str) -> str | None:
    """The section that a line starts; None for other lines."""
    begin = LETTER.search(line) if len(line) < MAX_HEADING_LENGTH else None
    if begin is None:
        return None
    line = line[begin.start() :].rstrip()
    match = HEADING.fullmatch(line.replace(" ", "") if SPACED.fullmatch(line) else line)
    return match.lastgroup if match else None


def split_sections(text: str) -> dict[str, list[str]]:
    """Group lines by section. Lines before the first heading belong to "head"."""
    sections: dict[str, list[str]] = {"head": []}
    section = sections["head"]
    for line in text.splitlines():
        if name := section_of_heading(line):
            section = sections.setdefault(name, [])
        else:
            section.append(line)
    return sections
