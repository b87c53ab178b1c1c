"""Years of experience that a resume states, for the whole career or beside a skill."""

from __future__ import annotations

import re

from jobmill.matching.posting_facts import experience_years, skills
from jobmill.matching.profile import Skill

YEARS = r"(?P<years>\d{1,2}(?:\.\d)?)\s?\+?\s?(?:years?|yrs?)\b"
LED_BY_YEARS = re.compile(
    YEARS
    + r"['\u2019]?(?: (?:of|in|with|using|writing|professional|experience|hands-on|commercial)){0,5} $",
    re.IGNORECASE,
)
THEN_YEARS = re.compile(
    r"\s?[:(,\u2013\u2014-]?\s?(?:for )?" + YEARS + r"(?![^\n,;)|]{0,3}[a-z])", re.IGNORECASE
)
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


def find_career_years(text: str) -> float | None:
    """The years that the person states at the top, also "8 years of nursing experience" and "8 years
    as a chef", but not those of a known skill."""
    for match in STATED_CAREER.finditer(text):
        line_end = text.find("\n", match.end())
        rest = text[match.start() : line_end if line_end >= 0 else None][:120]
        if not skills.find_skills(rest.partition(".")[0]):
            count = match["years"].lower()
            return _plausible_years(float(NUMBER_WORDS.get(count, count)))
    return None


def find_career_years_anywhere(text: str) -> float | None:
    """The years of the whole career, wherever the resume states them."""
    return _parse_years(CAREER.search(text))


def find_skills(text: str) -> list[Skill]:
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
