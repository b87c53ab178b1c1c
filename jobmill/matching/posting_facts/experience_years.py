"""Read the years of experience that a text asks for, and not a company's age, a contract's length
or a person's age."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .quoted_lines import quote_line
from .sections import TextSections

WORDS = {
    "zero": 0, "a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "fifteen": 15, "twenty": 20,
    "ein": 1, "eine": 1, "einem": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6,
    "sieben": 7, "acht": 8, "zehn": 10,
    "un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "sept": 7, "huit": 8, "dix": 10,
    "uno": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8,
    "diez": 10,
}  # fmt: skip
SEVERAL_YEARS = 3
"""The number that "several years" stands for."""
FIRST_EXPERIENCE_YEARS = 2
"""The maximum number of years that "first experience" stands for."""

# Each pattern starts with literal letters, which makes the search fast.
UNITS = tuple(
    (hint, re.compile(pattern))
    for hint, pattern in (
        ("year", r"years?(?!\w)"),
        ("yr", r"yrs?(?!\w)"),
        ("yoe", r"yoe(?!\w)"),
        ("month", r"months?(?!\w)"),
        ("decade", r"decades?(?!\w)"),
        ("jahr", r"jahre?n?(?!\w)"),
        ("jährig", r"jährige[rn]?(?!\w)"),
        ("año", r"años?(?!\w)"),
        ("anos", r"anos(?!\w)"),
        ("anni", r"anni(?!\w)"),
        ("jaar", r"jaar(?!\w)"),
        ("année", r"années?(?!\w)"),
        ("ans", r"ans(?!\w)"),
        # Also an English word, so require a number before it.
        (" an", r" an(?<=\d an)(?!\w)"),
    )
)
NUMBER = rf"\d{{1,2}}(?:[.,]5)?|{'|'.join(WORDS)}"
COUNT = re.compile(
    rf"(?<![\w$€£,/%])(?<!\d\.)(?P<open>\+ ?)?(?P<low>{NUMBER})(?: ?\(\d+\+?\))?(?P<more> ?\+)?"
    rf"(?: ?(?:[-\u2010-\u2015/~]|to|or|and|bis|oder|à|a|ou|et|o|y|e) ?"
    rf"(?P<high>{NUMBER})(?: ?\(\d+\))?(?P<more2> ?(?:\+|plus\b|or more))?)?"
    r"[ \u00a0]{0,2}(?:full |solid |plus |or more |of )?(?P<joined>[-\u2010\u2011])?$",
    re.IGNORECASE,
)
MORE = re.compile(
    r"['\u2019]? ?(?:\+|plus\b|or more\b|and above\b|minimum\b|mindestens)", re.IGNORECASE
)
UP_TO = re.compile(r"\b(?:up to|at most|max(?:imum)?(?: of)?|less than|under|jusqu['\u2019]à|bis zu|hasta)\s*$", re.IGNORECASE)  # fmt: skip
LEAST = re.compile(
    r"\b(?:at least|at a minimum|minimum(?: of)?|min\.?|no less than|not less than|mindestens|mind\.?"
    r"|au moins|minimum de|al menos|mínim[oa](?: de)?|como mínimo|minimaal|almeno|requires?|requiring"
    r"|you(?:['\u2019]ve| have|['\u2019]ll have| bring)(?: got| spent)?|require[ds]?:?|ideally|roughly"
    r"|around|typically|experience ?:?|expérience ?:?(?: de)?|experiencia ?:?(?: de)?)\s*$",
    re.IGNORECASE,
)

EXPERIENCE = re.compile(
    r"experience|expertise|\bexp\b|erfahrung|expérience|experiencia|dexperiencia|esperienza"
    r"|experiência|ervaring|track record|\bpqe\b|\bpost.qualif|seniority|under your belt|in (?:an? |the )?(?:\w+ )?"
    r"(?:role|position|capacity|field|industry)|background",
    re.IGNORECASE,
)
# Text that follows years of work experience.
WORKED = re.compile(
    r"['\u2019]?\+?,? ?(?:(?:of|in|as|within|across|at|on|with|working|spent|using|doing|managing"
    r"|leading|post|related|relevant|professional|combined|progressive|direct|proven|hands|en|dans"
    r"|sur|als|im|comme|chez)\b|\w+ing\b|[:)])",
    re.IGNORECASE,
)
# Text that follows a time span, an age or a contract term.
OTHER_AFTER = re.compile(
    r"['\u2019]?s?[ -]*(?:old\b|of age\b|or older|and older|and counting|ago\b|in a row|in business"
    r"|running|sooner|later|from now|to (?:realize|come|complete|build)|straight|history|in existence"
    r"|since\b|degree|college|university|undergrad|bachelor|master|program|course|stud(?:y|ies)\b"
    r"|contract|term\b|fixed|warranty|vest|plan\b|cycle|roadmap|anniversary|security|guarantee"
    r"|of (?:age|service|success|excellence|growth|scientific|history|heritage|innovation|industry"
    r" excellence|operation|continuous (?:growth|improvement)|tradition|existence|funding|paid (?:leave|time|parental)|salary|study|college"
    r"|university|education|schooling|parental|maternity|residen|vacation|employment|tenure)\b"
    r"|within the (?:last|past)|alt\b|am markt|tradition|d['\u2019]existence|en el mercado|de edad"
    r"|de historia|ayudando|of our\b|,? we\b|, ?the company|par(?: an)?\b)",
    re.IGNORECASE,
)
OTHER_BEFORE = re.compile(
    r"(?:\b(?:for|the)(?: (?:over|up to|more than|nearly|almost|about|the|past|last|next|first|around))+"
    r"|(?<!looking )\bfor|\b(?:next|past|last|first|every|within|after|each|per|before|until|aged?|ages?|recent)"
    r"(?: the)?(?: next| past| last)?|\b(?:in|over) (?:just |only |under |the |less than |the last )+"
    r"(?:over|next|past|last|under)?|in (?:less|more) than|(?:founded|established|created|créée?)\W.*"
    r"|seit(?: mehr als| über| rund| mindestens)?|il y a(?: plus de)?|depuis(?: plus de)?|desde hace"
    r"|llevamos(?: más de)?|cumplir con|through|vest\w*(?: over)?|period of|term of|duration of"
    r"|contract(?: of)?|dauer von(?: mindestens)?|enfants? de|fille de|garçon de|must be(?: at least| a"
    r"minimum of)?|(?:be|is|are) (?:at least|over)|minimum age(?: of)?|older than|be)\s*$",
    re.IGNORECASE,
)
OVER = re.compile(
    r"\b(?:over|more than|nearly|almost|über|plus de|más de|mehr als|meer dan)\s*$", re.IGNORECASE
)
COMPANY = re.compile(
    r"\b(?:we|our|us|its|their|his|her|company|firm|organi[sz]ation|team has|leader|leading|provider"
    r"|group|founded|family|business|has|wir|unser\w*|nous|notre|entreprise|société|empresa|somos"
    r"|nuestr\w+|associé|surgeon|agency|trusted|partner|brand)\b",
    re.IGNORECASE,
)
YOU = re.compile(r"\b(?:you|your|candidates?|applicants?|someone|vous|du|sie|tu|must|require[ds]?|ideal)\b", re.IGNORECASE)  # fmt: skip
PREFERRED = re.compile(
    r"\b(?:preferred|a plus|nice to have|bonus|desirable|advantage(?:ous)?|wünschenswert|von vorteil"
    r"|apprécié|souhaité|deseable|valorable)\b",
    re.IGNORECASE,
)
NICE = re.compile(r"\b(?:nice[- ]to[- ]have|bonus|a plus|preferably)\b", re.IGNORECASE)
INSTEAD = re.compile(
    r"\bor(?: [\w.'\u2019]+){0,4}?(?: (?:with|and|plus|\+))?\s*(?:at least |a minimum of |minimum )?$"
    r"|\b(?:in lieu of|instead of|isn['\u2019]t met|degree (?:and|with|\+|plus)|equivalent)[^.]{0,30}$",
    re.IGNORECASE,
)
"""One of several alternatives, such as years in place of a degree."""
STATED_IN_WORDS = re.compile(
    r"(?P<several>\bmehrjährige\w*(?: \w+){0,2} ?\w*erfahrung|\bmehrere jahre\w*(?: \w+){0,2} ?\w*"
    r"erfahrung|\bseveral years['\u2019]?(?: of)?(?: \w+){0,3} experience)"
    r"|(?P<first>\berste(?:r|n)?(?: \w+){0,2} (?:berufs|praxis|praktische )?\w*erfahrung(?!en mit)"
    r"|\bpremière expérience)"
    r"|(?P<none>\bno (?:prior |previous |work )*experience (?:is )?(?:required|necessary|needed)"
    r"|\bno es necesaria experiencia|\bsin experiencia|\bkeine (?:berufs)?erfahrung (?:notwendig"
    r"|erforderlich|nötig)|\b(?:pas|ni)(?: besoin)?(?: de diplômes ni)? d['\u2019]expérience)",
    re.IGNORECASE,
)
STATED_HINTS = (
    "mehrjähr", "mehrere jahr", "several years", "erste", "première exp", "no experience", "no prior",
    "no previous", "no work experience", "no es necesaria", "sin experiencia", "keine ",
    "d'expérience", "d\u2019expérience",
)  # fmt: skip
BREAK = re.compile(r"(?<!\bca)(?<!\bmin)(?<!\bmind)(?<!\b[A-Z])[.!?;] |\n|\s{2,}|[•·✨●▪]")
MAX_MENTIONS = 200
"""Words for years and months to look at; none of 966 real postings has more than 11."""
MAX_YEARS = 30
"""Larger numbers are the combined years of a team."""
MAX_LIKELY_YEARS = 15
"""Larger numbers more often describe the company than the candidate."""


@dataclass(frozen=True, slots=True)
class RequiredYears:
    least: float
    most: float | None
    words: str


@dataclass(frozen=True, slots=True)
class YearsMention:
    low: float
    high: float | None
    start: int
    end: int
    preferred: bool = False


def read_years(text: str, sections: TextSections) -> RequiredYears | None:
    """Read the overall years required. Preferred years and alternatives count only if the text
    states no others."""
    mentions = list(_mentions(text, sections))
    if not mentions:
        return _read_years_in_words(text)
    required = [mention for mention in mentions if not mention.preferred]
    # If several things need different years, the highest counts; of alternatives, the lowest.
    mention = max(required, key=_low) if required else min(mentions, key=_low)
    return RequiredYears(mention.low, mention.high, quote_line(text, mention.start, mention.end))


def _low(mention: YearsMention) -> float:
    return mention.low


def _mentions(text: str, sections: TextSections) -> Iterator[YearsMention]:
    for unit in _units(text)[:MAX_MENTIONS]:
        left = text[max(0, unit.start() - 40) : unit.start()]
        if count := COUNT.search(left):
            start = unit.start() - len(left) + count.start()
            mention = _read_mention(text, count, start, unit)
            if mention and sections.section_at(start) == "preferred":
                mention = replace(mention, preferred=True)
            if mention:
                yield mention


def _units(text: str) -> list[re.Match[str]]:
    """Find the words for years and months, in order."""
    small = text.lower()
    if len(small) != len(text):
        small = text
    units = [match for hint, unit in UNITS if hint in small for match in unit.finditer(small)]
    return sorted(
        (
            unit
            for unit in units
            if not text[max(0, unit.start() - 1)].isalpha() or not unit.start()
        ),
        key=re.Match[str].start,
    )


def _read_mention(
    text: str, count: re.Match[str], start: int, unit: re.Match[str]
) -> YearsMention | None:
    before, after = _clause(text, start, unit.end())
    low, high = _number(count["low"]), _number(count["high"])
    if unit[0].startswith("decade"):
        low, high = low and low * 10, None
    months = unit[0].startswith("month")
    if low is None or not _is_requirement(count, before, after, low, months=months):
        return None
    if months:
        low, high = low / 12, high / 12 if high is not None else None
    if UP_TO.search(before):
        low, high = 0.0, low
    elif count["more"] or count["more2"] or MORE.match(after) or count["open"]:
        high = None
    if high is not None and high < low:
        high = None
    preferred = bool(PREFERRED.search(after) or NICE.search(before) or INSTEAD.search(before))
    return YearsMention(low, high, start, unit.end(), preferred)


def _is_requirement(
    count: re.Match[str], before: str, after: str, low: float, *, months: bool
) -> bool:
    if low > MAX_YEARS or OTHER_AFTER.match(after) or OTHER_BEFORE.search(before):
        return False
    experience = EXPERIENCE.search(after[:100]) or EXPERIENCE.search(before[-60:])
    asks = LEAST.search(before) or UP_TO.search(before)
    if months or count["joined"]:
        return bool(EXPERIENCE.search(after[:40]) and (asks or not before.strip()))
    over = OVER.search(before)
    if over and COMPANY.search(before) and not YOU.search(before):
        return False
    plus = count["more"] or count["more2"] or count["open"]
    if not before.strip(" -*:()") and not after.strip(" +.)") and (plus or count["high"]):
        return True
    if low > MAX_LIKELY_YEARS and not (asks or YOU.search(before) or (plus and experience)):
        return False
    if experience:
        return True
    return bool(asks or plus or count["high"] or not before.strip(" -*:()")) and bool(
        WORKED.match(after) or asks
    )


def _clause(text: str, start: int, end: int) -> tuple[str, str]:
    """The text before and after in the same sentence or line."""
    before, after = text[max(0, start - 120) : start], text[end : end + 140]
    breaks = [match.end() for match in BREAK.finditer(before)]
    stop = BREAK.search(after)
    return before[breaks[-1] if breaks else 0 :], after[: stop.start() if stop else None]


def _number(text: str | None) -> float | None:
    if text is None:
        return None
    word = text.lower()
    return float(WORDS[word] if word in WORDS else word.replace(",", "."))


def _read_years_in_words(text: str) -> RequiredYears | None:
    small = text.lower()
    match = STATED_IN_WORDS.search(text) if any(hint in small for hint in STATED_HINTS) else None
    if not match:
        return None
    words = quote_line(text, *match.span())
    if match["several"]:
        return RequiredYears(SEVERAL_YEARS, None, words)
    return RequiredYears(0, FIRST_EXPERIENCE_YEARS if match["first"] else None, words)
