"""Prepare texts for comparison: without names of companies and people, and without gender, origin,
faith or age."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from jobmill.catalog import company_names
from jobmill.catalog.posting import Posting
from jobmill.matching.profile import Profile
from jobmill.plain_text import fold_case

MAX_LENGTH = 4_000
"""Maximum length of the title and of the body in characters."""
_MAX_INPUT_LENGTH = 50_000
MAX_HEADING_LENGTH = 60
"""Maximum length of a heading in characters; longer lines are sentences."""

# Sections and sentences that say nothing about the work.
_ASIDE = re.compile(
    r"(?i)\W*(?:about (?:us\b|the company|\W*$)|who we are|our (?:company|story|mission|values|"
    r"culture|benefits)|why (?:join|work|us\b)|(?:company |our |the )?(?:overview|background)\W*$|"
    r"(?:\w+ ){0,3}(?:benefits|perks|compensation|salary|pay range)|what we offer|we offer|"
    r"what(?:'s|\u2019s) in it for you|how to apply|(?:the )?(?:interview|hiring|application) process|"
    r"equal (?:opportunity|employment)|eeo\b|diversity|inclusion|accommodations?\b|privacy|"
    r"disclaimer|additional information|\u00fcber uns|wir bieten|was wir bieten|das bieten|kontakt)"
)
_WORK = re.compile(
    r"(?i)\W*(?:about (?:the (?:role|position|job|team|work|opportunity)|you\b|this)|the (?:role|team|work)"
    r"|(?:\w+ ){0,3}(?:responsibilit|duties|requirements?|qualifications?|skills|experience)|what you|who you|"
    r"you(?:'ll|\u2019ll| will| have| are|r)\b|we(?:'re|\u2019re| are) looking|must|nice to have|bonus|"
    r"job (?:description|summary)|position|summary|deine|ihre|dein|ihr|aufgaben|profil|anforderungen)"
)
_LEGALESE = re.compile(
    r"(?i)\b(?:equal[- ]opportunity|regardless of|without regard to|protected (?:veteran|class|"
    r"characteristic)|reasonable accommodation|sexual orientation|gender identity|e-verify|"
    r"background checks?|privacy (?:policy|notice)|401\(?k\)?|dental|parental leave|paid time off|pto\b|"
    r"unlimited (?:vacation|pto)|base salary|pay range|salary range|health insurance|stock options)"
)

_GENDER = (
    "he|she|him|her|his|hers|himself|herself|they|them|their|theirs|themselves|themself|he/she|she/he|"
    "s/he|man|woman|men|women|male|female|males|females|gentleman|gentlemen|lady|ladies|guys?|girls?|"
    "boys?|mothers?|fathers?|mom|mum|dad|husband|wife|sons?|daughters?|brothers?|sisters?|mr|mrs|"
    "sir|madam|non-?binary|transgender|cisgender|queer|lgbtq?\\w*|feminine|masculine"
)
_ORIGIN = (
    "african|afghan|albanian|algerian|american|angolan|arab|arabic|argentin(?:ian|e)|armenian|asian|"
    "australian|austrian|azerbaijani|bangladeshi|belarusian|belgian|bolivian|bosnian|brazilian|"
    "british|bulgarian|cambodian|cameroonian|canadian|catalan|caucasian|chilean|chinese|colombian|"
    "croatian|cuban|czech|danish|dane|dominican|dutch|ecuadorian|egyptian|english|eritrean|estonian|"
    "ethiopian|european|filipino|filipina|finnish|finn|french|georgian|german|ghanaian|greek|"
    "guatemalan|haitian|hispanic|honduran|hungarian|icelandic|indian|indonesian|iranian|iraqi|irish|"
    "israeli|italian|ivorian|jamaican|japanese|jordanian|kazakh|kenyan|korean|kurdish|kuwaiti|latin[oax]|"
    "latvian|lebanese|libyan|lithuanian|macedonian|malaysian|maltese|mexican|moldovan|mongolian|"
    "moroccan|nepal(?:i|ese)|new zealander|nicaraguan|nigerian|norwegian|pakistani|palestinian|"
    "panamanian|persian|peruvian|portuguese|puerto rican|qatari|romanian|russian|rwandan|saudi|"
    "scottish|senegalese|serbian?|singaporean|slovak|slovenian|somali|south african|spanish|spaniard|"
    "sri lankan|sudanese|swedish|swede|swiss|syrian|taiwanese|tanzanian|thai|tunisian|turkish|turk|"
    "ugandan|ukrainian|uruguayan|uzbek|venezuelan|vietnamese|welsh|yemeni|zambian|zimbabwean"
)
_FAITH = (
    "christian|catholic|protestant|evangelical|mormon|muslim|islamic|jewish|jew|hindu|buddhist|sikh|"
    "atheist|christianity|catholicism|islam|judaism|hinduism|buddhism|sikhism|atheism"
)
_AGE = (
    "young|younger|youngest|youthful|old|older|elderly|aged|age|ages|teenage|teenager|middle-aged|"
    "millennial|boomer|gen[- ][xyz]|\\d{2}[- ]years?[- ]olds?"
)
# Include the article, which differs between words, and suffixes such as "woman".
_WORDS = re.compile(
    rf"(?i)(?<!\w)(?:an?\s+)?(?:{_GENDER}|(?:{_ORIGIN}|{_FAITH}|{_AGE})(?:s|m[ae]n|wom[ae]n)?"
    r"|(?-i:Polish|Poles?|Ms|Miss|Mx)|(?:black|white|brown)(?=\s+(?:wo)?(?:m[ae]n|(?:fe)?male|pe(?:rson|ople)))"
    r"|[(\[]?[mfwdxhi*]\s?/\s?[mfwdxhi*](?:\s?/\s?[mfwdxhi*])?[)\]]?)(?!\w)"
)
_TRADE = re.compile(
    r"(?i)\b(sales|business|chair|spokes|crafts|fore|trades|repair|service|handy|camera|police|fire|"
    r"council|congress|anchor|news|states|journey|ombuds|work|kins|sports)"
    r"(?:wom[ae]n|m[ae]n|persons?|people)(?!\w)"
)
_EMPTY = re.compile(r"[(\[]\W{0,9}[)\]]")
# Words at the end of company names that people often leave out.
_GENERIC = re.compile(
    r"tech(?:nolog(?:y|ies))?|labs?|group|solutions|software|systems|services|holdings?|international|"
    r"global|partners|studios?|networks|ventures|industries|enterprises|hq|io|ai|com"
)
_SITE = r"(?P<site>(?:\.(?:com|io|ai|co|org|net|dev|app|eu|de|uk|us|tech)\b)*)"
_ADDRESS = re.compile(
    r"(?i)https?://\S+|\bwww\.\S+|[\w.+-]{1,64}@\S+|\b[\w-]{1,64}\.(?:com|org|net|io|dev)/\S+"
)
_FORMS = (
    r"(?:,?\s+(?:inc|incorporated|corp|corporation|company|ltd|limited|llc|llp|plc|gmbh|ag|se|s\.?a\.?|"
    r"b\.?v\.?|ab|oy|pty|(?:&|and) co)\b\.?)*"
)


def posting_text(posting: Posting) -> str:
    """The text of a posting that describes the work, without the employer's name."""
    text = f"{posting.title}.\n{posting.requirements or posting.description or ''}"[
        :_MAX_INPUT_LENGTH
    ]
    text = _ADDRESS.sub(" ", text)
    for name in _spellings(company_names.company_key(posting.company)):
        text = _remove_name(text, name, posting.company or "")
    title, _, body = text.partition("\n")
    return _join(title, "\n".join(_about_the_work(body)))


def profile_text(profile: Profile) -> str:
    """The text of a profile that describes what the person wants and can do, without the person's name. Skills
    are left out, because adding a skill must never lower a score."""
    titles = " ".join(". ".join(profile.titles).split())
    text = "\n".join([titles, profile.summary, *profile.highlights])
    text = _ADDRESS.sub(" ", text)
    name = profile.person.name or ""
    words = re.sub(r"[^\w'\u2019-]+", " ", fold_case(name)).split()
    for part in [words, *([word] for word in words if len(word) > 1)]:
        text = _remove_name(text, part, name)
    title, _, body = text.partition("\n")
    return _join(title, body)


def _about_the_work(text: str) -> list[str]:
    """The lines that are not about the company, its benefits or legal terms. Lines before the first
    heading come last, because most are about the company."""
    before_heading: list[str] = []
    after_heading: list[str] = []
    aside = is_after_heading = False
    for line in text.splitlines():
        if len(line) <= MAX_HEADING_LENGTH:
            work = bool(_WORK.match(line))
            aside = not work and (aside or bool(_ASIDE.match(line)))
            is_after_heading = is_after_heading or work
        if not aside and not _LEGALESE.search(line):
            (after_heading if is_after_heading else before_heading).append(line)
    return after_heading + before_heading


def _spellings(key: str) -> Iterator[Sequence[str]]:
    """The words of a company's name, then shorter forms of it."""
    words = key.split()
    if words:
        yield words
    while len(words) > 1 and _GENERIC.fullmatch(words[-1]):
        words = words[:-1]
        yield words


def _remove_name(text: str, words: Sequence[str], full_name: str) -> str:
    """Remove a name where it is written as a name: "Box" is a company, "box" is not."""
    if not words:
        return text

    def erased(match: re.Match[str]) -> str:
        parts = re.findall(r"[^\W_](?:\w|['\u2019.]\w)*", match["name"])
        # Short words may be lower case, as in "Centre for Wells".
        large = [not part[0].islower() for part in parts[:1] + [p for p in parts if len(p) > 3]]
        return " " if all(large) or match["name"] in full_name or match["site"] else match[0]

    return _name_pattern(tuple(words)).sub(erased, text)


@lru_cache(maxsize=256)
def _name_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    spelt = ("(?:and|&|\\+)" if word == "and" else _letters(word) for word in words)
    name = r"[\W_]{0,3}".join(spelt)
    return re.compile(rf"(?i)(?<!\w)(?P<name>{name}){_SITE}{_FORMS}(?:['\u2019]s)?(?![\w+#])")


def _letters(word: str) -> str:
    return "['\u2019.]?".join(map(re.escape, word))


def _join(title: str, body: str) -> str:
    """A text whose first line is the title, which counts as much as the rest."""
    return "\n".join(part for part in map(_neutralize, (title, body)) if part)


def _neutralize(text: str) -> str:
    text = _TRADE.sub(r"\1person", text)
    # The vectors are those of words in lower case.
    return " ".join(_EMPTY.sub(" ", _WORDS.sub(" ", text)).lower().split())[:MAX_LENGTH]
