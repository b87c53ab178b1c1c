"""Split a text into sections by headings: required, preferred and other."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal, TypeAlias

Part: TypeAlias = Literal["required", "preferred", "other"]

MAX_HEADING_LENGTH = 80
"""Maximum length of a heading in characters; longer lines are sentences."""
BULLET = re.compile(r"\s*(?:[-•*·▪◦●‣\u2013\u2014✓✔➢►+]|\d{1,2}[.)])\s")
HEADS: tuple[tuple[Part, re.Pattern[str]], ...] = (
    ("preferred", re.compile(
        r"(?:preferred|desired|desirable|optional|additional|bonus)\b(?! (?:to|for))|extra credit"
        r"|even better|pluses|plus(?:$|:)|icing on|brownie|nice to know|les plus|atouts?|das wäre"
        r"|se valorará|valorable|deseable|diferenciais|mile widziane|meriterande|pluspunten"
    )),
    ("required", re.compile(
        r"(?:(?:minimum|basic|required|key|essential|core|technical|professional|mandatory|main|job|role"
        r"|position|candidate|our|the|must[- ]have)(?: (?:and|&|or|/) \w+)? ){0,2}(?:requirements?"
        r"|qualifications?|skills?|competenc(?:ies|es)|prerequisites|must[- ]haves?|criteria|experience)\b"
        r"(?! (?:gather|engineer|analy|manage|elicit|document|develop|train))"
        r"|required\b|must[- ]haves?|what (?:you(?:['\u2019]ll| will)?(?: need to)? (?:need|bring|have"
        r"|should have|must have)|we(?:['\u2019]re| are)? (?:look(?:ing)? for|expect|need|require|want|seek)"
        r"|you(?:['\u2019]ll)? offer|makes you|it takes|will make you)"
        r"|who (?:you are|are you|we(?:['\u2019]re| are) looking for)|about you\b"
        r"|your (?:profile|skills|background|qualifications|experience|expertise|toolbox)"
        r"|you(?:['\u2019]d| might| may| could|['\u2019]ll| will)?(?: be)? (?:an? )?(?:great |good "
        r"|strong |right )?(?:fit|match)|you (?:might|may|will|['\u2019]ll) thrive|you (?:have|bring|are"
        r"|possess):?$|(?:the |our )?(?:ideal|successful|right) (?:candidate|profile|applicant)"
        r"|we(?:['\u2019]d| would) (?:love|like)|we(?:['\u2019]re| are) looking for|to (?:be successful"
        r"|succeed|thrive|qualify)|(?:person|candidate) (?:specification|profile)"
        r"|(?:ihr|dein|das|unser|deine|ihre)?\s*(?:profil|anforderung(?:en|sprofil)|qualifikation(?:en)?"
        r"|voraussetzung(?:en)?|kenntnisse)\b|(?:das|was) (?:bringst|bringen|du mit|sie mit|wir erwarten"
        r"|zeichnet)|(?:du|sie) bring(?:st|en)|wir erwarten|(?:votre |ton |le )?profil\b|compétences"
        r"|vos compétences|pré-?requis|ce que nous (?:recherchons|attendons)|(?:tu )?perfil\b|requisitos"
        r"|requisiti|requerimientos|imprescindible|conocimientos|wymagania|wat (?:vragen wij|breng je)"
        r"|functie-?eisen|kvalifikationer|krav\b"
    )),
    ("other", re.compile(
        r"what (?:we offer|you(?:['\u2019]ll| will) (?:do|get|gain|work|own|learn|be doing))"
        r"|(?:our |your |the |key |main |job |core |primary |about |role )*(?:benefits?|perks"
        r"|responsibilit\w+|compensation|salary|pay|about|how to apply|why|location|equal|interview"
        r"|hiring process|duties|tasks|role|team|company|mission|impact|opportunity|we offer|tech stack"
        r"|stack|note|apply|disclaimer|job description|overview|position summary|in this role)\b"
        r"|(?:in this role,? )?you(?:['\u2019]ll| will)\b"
        r"|wir bieten|das bieten|unser angebot|(?:deine|ihre) aufgaben|aufgaben|über uns|nous offrons"
        r"|avantages|vos missions|missions|à propos|ofrecemos|beneficios|funciones|responsabilidades|sobre"
    )),
)  # fmt: skip

PREFERRED_ANYWHERE = re.compile(
    r"(?:nice|good|great)[- ]to[- ]have|bonus (?:points|skills|if)|stands? out|sets? you apart"
    r"|what would be nice|an? (?:big |huge |real |definite )?(?:plus|bonus|advantage)\b|von vorteil"
    r"|wünschenswert|idealerweise|un plus\b"
)


@dataclass(frozen=True, slots=True)
class TextSections:
    """Start and type of each section. The text before the first has no type."""

    starts: tuple[int, ...] = ()
    parts: tuple[Part, ...] = ()

    def section_at(self, place: int) -> Part | None:
        """The type of the section at a position."""
        index = bisect_right(self.starts, place)
        return self.parts[index - 1] if index else None


def find_sections(text: str) -> TextSections:
    starts: list[int] = []
    parts: list[Part] = []
    begin = 0
    for line in text.split("\n"):
        if part := _section_of_heading(line):
            starts.append(begin)
            parts.append(part)
        begin += len(line) + 1
    return TextSections(tuple(starts), tuple(parts))


def _section_of_heading(line: str) -> Part | None:
    """The type of section that a heading starts; None if the line is not such a heading."""
    bare = line.strip(" \t\r\n#*_=|►▪•✅🔥🎯💡👉🚀✨📌🔍🧠💪⭐")
    if not bare or BULLET.match(line):
        return None
    head, colon, _ = bare.partition(":")
    if len(head) > MAX_HEADING_LENGTH or (not colon and bare.endswith((".", "!", ";", ","))):
        return None
    low = (head if colon else bare)[:MAX_HEADING_LENGTH].lower()
    if PREFERRED_ANYWHERE.search(low):
        return "preferred"
    return next((part for part, pattern in HEADS if pattern.match(low)), None)
