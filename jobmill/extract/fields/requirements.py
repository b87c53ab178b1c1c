"""Find the requirements section in a job description."""

from __future__ import annotations

import re

_MAX_HEADING_LENGTH = 80
"""Longer lines are sentences, not headings."""

# A line that starts like this is a requirements heading, whatever follows.
_HEADING = re.compile(
    # English
    r"(?:(?:minimum|basic|preferred|required|desired|additional|key|essential|core|technical"
    r"|professional|mandatory|main|job|role|position|candidate|other|bonus|the)"
    r"(?: (?:and|&|or|/) \w+)? ){0,2}(?:requirements?|qualifications?|skills?(?: set)?"
    r"|competenc(?:ies|es)|prerequisites|must[- ]haves?|criteria)"
    r"|what (?:you(?:['\u2019]ll| will)?(?: need to)? (?:need|bring|have|should have|must have)"
    r"|we(?:['\u2019]re| are)? (?:look(?:ing)? for|expect|need|require|want|value|seek)"
    r"|you(?:['\u2019]ll)? offer|makes you|it takes|will make you|experience|skills)"
    r"|who (?:you are|are you|we(?:['\u2019]re| are) looking for|should apply)|about you\b"
    r"|your (?:profile|skills|background|qualifications|experience|expertise|strengths|toolbox)"
    r"|you(?:['\u2019]d| might| may| could|['\u2019]ll| will)?(?: be)? (?:an? )?(?:great |good "
    r"|strong |right )?(?:fit|match)|you (?:might|may) thrive|you(?:['\u2019]re| are) (?:a"
    r"|the) (?:good|great|right)"
    r"|(?:the |our )?(?:ideal|successful|right) (?:candidate|profile|applicant)"
    r"|nice[- ]to[- ]haves?|bonus points|it(?:['\u2019]s| is|['\u2019]d be|would be) (?:a )?(?:plus"
    r"|bonus|nice|great)"
    r"|we(?:['\u2019]d| would) (?:love|like)|we(?:['\u2019]re| are) looking for|to (?:be successful"
    r"|succeed|thrive|qualify)|good to have|extra credit|even better"
    r"|(?:person|candidate) (?:specification|profile)|education (?:and|&|/) |experience (?:and|&"
    r"|/) |knowledge(?:,| and| &) |skills(?: and| &|,| /|/) |preferred experience"
    r"|(?:required|relevant|minimum) (?:experience|education)|you (?:have|bring|are|possess):?$"
    r"|desirable"
    # German
    r"|(?:ihr|dein|das|unser|euer|ihre|deine|unsere|gewünschtes )?\s*(?:profil|anforderung(?:en"
    r"|sprofil)|qualifikation(?:en)?|voraussetzung(?:en)?|fähigkeiten|stärken|kenntnisse)\b"
    r"|(?:das|was|dies) (?:bringst|bringen|du|sie|solltest|sollten|wir (?:erwarten|suchen|uns)"
    r"|wünschen|zeichnet|macht|erwarten|dich)|(?:du|sie) bring(?:st|en)|wir erwarten|wen wir suchen"
    r"|damit (?:überzeug|begeister|punkte)|womit (?:du|sie)|wer du bist|von vorteil"
    # French
    r"|(?:votre |ton |le |notre )?profil\b|compétences|pré-?requis|qualifications"
    r"|ce que nous (?:recherchons|attendons)|qui (?:êtes-vous|es-tu)|vous êtes\W*$"
    r"|votre (?:parcours|expérience)"
    r"|ce que vous apport|les plus\b|formation et"
    # Spanish, Portuguese, Italian
    r"|(?:tu |o |il tuo |il )?(?:perfil|profilo)\b|requisitos|requisiti|requerimientos|(?:qué|que"
    r"|lo que|o que|cosa|chi) (?:buscamos|procuramos|cerchiamo|necesitas|esperamos|valoramos)"
    r"|se valorará|imprescindible|conocimientos|competenze|qualificaç|quem (?:procuramos|és)"
    r"|aptitudes|diferenciais|titolo preferenziale|experiencia requerida"
    # Dutch, Polish and the Scandinavian languages
    r"|wat (?:vragen wij|breng je|neem je|verwachten|we vragen|wij vragen|jij meebrengt"
    r"|je meebrengt|heb je nodig)|functie-?eisen|vereisten|jouw (?:profiel|talenten)|wie ben jij"
    r"|dit ben jij"
    r"|(?:nasze )?wymagania|(?:czego )?oczekujemy|oczekiwania|mile widziane|twój profil"
    r"|kogo szukamy|(?:dina )?kvalifikationer|kvalifikasjoner|krav\b|din (?:profil|bakgrund)"
    r"|vem (?:är|söker)"
    r"|vi söker (?:dig|en)|om d[ie]g\b|meriterande|önskade|hvem er du|dine kvalifika"
)
_HEADING_END = re.compile(
    r".*\b(?:if you(?:['\u2019]re|['\u2019]ve)?(?: are| have| can)?|you (?:must |should "
    r"|need to )?have|match if)\W*:"
)
# Headings only if nothing else is in the line, or inside a requirements section.
_SHORT_HEADING = re.compile(
    r"(?:education|experience|skills|knowledge|languages?|abilities|certifications?|technical|tools"
    r"|tech stack|background|must|formation|expérience|langues|ausbildung"
    r"|sprachen|erfahrung|formación|idiomas|formazione|esperienza|wykształcenie|utbildning"
    r"|erfarenhet|preferred|required|desired|plus|pluses|bonus)"
    r"(?: (?:and|&|/|or) \w+)?"
)
# "Requirements gathering" and "Skills development" are tasks, not requirements.
_OTHER_MEANING = re.compile(
    r"requirements? (?:gather|engineer|analy|manage|elicit|document)|skills? (?:develop|train)"
    r"|what we offer|about (?:us|the)|what you(?:['\u2019]ll| will) (?:do|get|gain|work|own|learn"
    r"|find)"
    r"|your (?:experience (?:with us|at)|benefits|role|tasks|impact|responsib)"
    r"|profil de l['\u2019]entreprise|unternehmensprofil|qualifications? (?:may|will)"
)
_HEADING_WITH_TEXT = re.compile(
    r"(?:(?:minimum|job|key) )?(?:requirements?|qualifications?|anforderungen|requisitos|requisiti"
    r"|wymagania|must haves?)\s*:\s*\w"
)
"""A heading and its text in the same line."""
_OTHER_HEADING = re.compile(
    r"what (?:we|you(?:['\u2019]ll| will)) (?:offer|do|get|give)|(?:our |your |the |key "
    r"|main )?(?:benefits?|perks|responsibilit|compensation|salary|pay|about|how to apply|why"
    r"|location|equal|"
    r"interview|hiring process|duties|tasks|role|company|what['\u2019]s in it|we offer"
    r"|additional information|note|apply|disclaimer|physical|working conditions|travel)"
    r"|wir bieten|das bieten|was wir|unser angebot|deine aufgaben|ihre aufgaben|aufgaben|über uns"
    r"|kontakt|benefits|nous offrons|avantages|ce que nous offrons|vos missions|à propos|"
    r"qué ofrecemos|ofrecemos|beneficios|funciones|sobre|benefícios|cosa offriamo|offriamo"
    r"|chi siamo|wij bieden|wat bieden|over ons|oferujemy|co oferujemy|zakres|vi erbjuder|om oss"
)
_BULLET = re.compile(r"[-•*·▪◦●‣\u2013\u2014✓✔➢►+]\s|\d{1,2}[.)]\s")
_DECORATION = " \t#*_:=\u2013\u2014-|►▪•✅🔥🎯💡👉🚀✨📌🔍🧠💪⭐"


def find_requirements(description: str | None) -> str | None:
    """The sections under headings such as "Requirements", "What you bring" and "Ihr Profil"; None
    if there is no such heading."""
    if not description:
        return None
    lines = description.split("\n")
    section_lines: list[str] = []
    inside = has_bullets = False
    for index, line in enumerate(lines):
        bullet = bool(_BULLET.match(line))
        if not bullet and (bare := line.strip(_DECORATION)):
            if len(line) <= _MAX_HEADING_LENGTH and _is_requirements_heading(
                line, bare, inside=inside
            ):
                section_lines += [""] * (bool(section_lines) and not inside)
                inside, has_bullets = True, False
            elif inside and _ends_section(
                line, bare, _neighbours(lines, index), has_bullets=has_bullets
            ):
                inside = False
        if inside or (not bullet and _HEADING_WITH_TEXT.match(line[:_MAX_HEADING_LENGTH].lower())):
            section_lines.append(line)
        has_bullets = has_bullets or (inside and bullet)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(section_lines)).strip()
    return text if "\n" in text or ":" in text else None


def _is_requirements_heading(line: str, heading: str, *, inside: bool) -> bool:
    low = heading.lower().rstrip(" ?")
    if (
        heading.endswith((".", "!", ";", ","))
        or len(low.split()) > 12
        or _OTHER_MEANING.search(low)
    ):
        return False
    if _SHORT_HEADING.fullmatch(low):
        return inside or low.startswith(("experience", "skills", "must", "education", "knowledge"))
    return bool(_HEADING.match(low) or _HEADING_END.match(line.lower()))


def _neighbours(lines: list[str], index: int) -> tuple[str, str]:
    """The previous line, and the next line that is not empty."""
    after = next((line for line in lines[index + 1 : index + 4] if line.strip()), "")
    return lines[index - 1] if index else "", after


def _ends_section(line: str, bare: str, around: tuple[str, str], *, has_bullets: bool) -> bool:
    """Whether a line ends the section because it looks like the heading of another section."""
    above, below = around
    listed = bool(_BULLET.match(below))
    if len(line) > _MAX_HEADING_LENGTH or bare.endswith((".", ";", ",")):
        # A paragraph after a list is about something else, unless the list continues.
        return has_bullets and not above.strip() and not listed and len(line) > _MAX_HEADING_LENGTH
    if (
        line.rstrip().endswith(":")
        or _OTHER_HEADING.match(bare.lower())
        or (bare.isupper() and len(bare) > 5)
    ):
        return True
    # If the requirements are a list, a separate line outside the list is a heading.
    return has_bullets and (not above.strip() or listed or len(below) > _MAX_HEADING_LENGTH)
