"""Decides whether texts look like titles or places, and whether cards look like postings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urldefrag, urlsplit

from jobmill.catalog.posting import Posting
from jobmill.extract.fields import dates
from jobmill.extract.page import page_locations
from jobmill.extract.page.text_checks import normalize
from jobmill.places import gazetteer
from jobmill.plain_text import read_word_list

from ..name_matching import is_about_jobs
from ..platform import Confidence

_ROLES = read_word_list("jobmill.boards.selectors", "role_words.txt")
# German, Dutch and Scandinavian words are compounds: "Vertriebsmitarbeiter", "Softwareentwickler".
_ROLE_ENDING = re.compile(
    r"\w(?:ingenieur|entwickler|leiter|berater|mitarbeiter|bearbeiter|fachkraft|techniker|mechaniker"
    r"|manager|kaufmann|kauffrau|verkäufer|medewerker|ontwikkelaar|utvecklare|ingenjör|chef|ledare"
    r"|medarbetare|assistent|praktikant|student|spezialist|referent|helfer|führer|meister"
    r"|pfleger|biträde|konsult|planer|elektroniker|monteur|leider|adviseur|udvikler|arbeiter)(?:in|e)?$"
)
# These languages do not separate words.
_WITHOUT_SPACES = re.compile(
    "エンジニア|デザイナー|マネージャー|スタッフ|営業|開発者|担当|アシスタント|ディレクター|プログラマー|コンサルタント|看護師|職"
    "|工程师|工程師|经理|經理|设计师|設計師|专员|專員|助理|总监|總監|顾问|顧問|实习生|開發"
    "|개발자|엔지니어|매니저|디자이너|담당자|기획자|마케터|인턴"
)
_GENDER = re.compile(
    r"[(\[|]\s*[mwfdxhv]\s*[/|*,]\s*[mwfdxhv]\b|\b[mwfhd]/[mwfhd](?:/[dxm])?\b|\(all genders\)"
    r"|[:*]in(?:nen)?\b|\(a\)$",
    re.IGNORECASE,
)
_NOT_A_TITLE = re.compile(
    r"^(?:how|why|what|when|where|who|introducing|announcing|meet|read|learn|view|see|apply|about|our"
    r"|your|we|the|join|discover|explore|show|load|subscribe|download|watch|life at|working at|jetzt"
    r"|mehr|alle|voir|en savoir|ver|log ?in|sign (?:in|up))\b|^\d+$",
    re.IGNORECASE,
)
_WITHOUT_ROLE = re.compile(
    r"^(?:inside|all|more|back|next|previous|home|contact|privacy|terms|cookies?|search|share|filter"
    r"|faqs?|benefits?|culture|values|blog|news|press|events?|team)\b"
    r"|\b(?:jobs|careers|vacancies|openings|positions|roles)$",
    re.IGNORECASE,
)
_OTHER_PATH = re.compile(
    r"/(?:blog|news|press|articles?|stories|story|events?|case-stud\w+|products?|services?|solutions?|team|"
    r"people|author|categor(?:y|ies)|tags?|topics?|videos?|podcasts?|resources|customers?|portfolio|"
    r"investors?|privacy|terms|legal|login|signin|sign-in|register|contact|about|faq|shop|cart|"
    r"departments?|locations?|benefits|culture|aktuelles|presse)(?:[/?#.]|$)",
    re.IGNORECASE,
)
_ARTICLE = re.compile(
    r"/(?:blog|news|press|articles?|stor(?:y|ies)|case-stud\w+|benefits|culture|faqs?)(?:[/?#.]|$)",
    re.IGNORECASE,
)
_POSTING_PATH = re.compile(
    r"/(?:[a-z]{2,12}-){0,2}(?:jobs?|careers?|positions?|openings?|vacanc(?:y|ies)|vacatures?|roles?|postings?|"
    r"opportunit(?:y|ies)|stellen\w*|karriere|emplois?|offres?(?:-\w+)*|empleos?|ofertas?|vagas|o|"
    r"lediga-jobb|jobb|offerte|lavora\w*|kariera|praca|hiring|join(?:-us)?|recruit(?:ment|ing)?|apply)"
    r"(?:/|[?&][\w-]+=|-).*\w|[?&](?:gh_jid|job_?id|jid|jobid|vacancy\w*|position\w*|req\w*|job)=\w",
    re.IGNORECASE,
)
_OTHER_SITE = re.compile(
    r"^(?:https?:)?//(?:[\w-]+\.)*(?:facebook|twitter|x|instagram|youtube|tiktok|pinterest|github|"
    r"glassdoor|google|apple|t|wa|xing|vimeo|medium)\.(?:com|me|co)(?:/|$)",
    re.IGNORECASE,
)
_REMOTE = re.compile(
    r"(?:full(?:y)? |100% )?(?:remote|hybrid|on-?site|anywhere|worldwide|home ?office|in[- ]office)\b.{0,40}",
    re.IGNORECASE,
)
_TOWN_FORM = re.compile(
    r"[^\W\d_a-z][\w.'\u2019 /-]{1,30}(?:(?:, | - | \| | / )[^\W\d_a-z][\w.'\u2019 -]{1,30}){1,3}"
)
_PARTS = re.compile(r"[,;/|(]| - ")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
_MAX_TITLE_LENGTH = 120
_MAX_TITLE_WORDS = 14


def names_role(text: str) -> bool:
    """Whether the text names a role."""
    if _GENDER.search(text) or _WITHOUT_SPACES.search(text):
        return True
    words = _WORD.findall(text.lower())
    parts = {part for word in words for part in (word, *word.split("-"))}
    return bool(_ROLES & parts) or any(_ROLE_ENDING.search(part) for part in parts)


def title_score(text: str) -> float:
    """From 0 to 1: how much a text looks like the title of a posting."""
    text = text.strip()
    sentence = text.endswith((".", "!", "?", ":", "…")) and not text.endswith(
        (".NET", "Sr.", "Jr.")
    )
    if not 2 < len(text) <= _MAX_TITLE_LENGTH or len(text.split()) > _MAX_TITLE_WORDS or sentence:
        return 0.0
    if _NOT_A_TITLE.search(text):
        return 0.0
    if names_role(text):
        return 1.0
    is_other = (
        page_locations.looks_like_place(text) or _REMOTE.fullmatch(text) or dates.parse_date(text)
    )
    return 0.0 if is_other or _WITHOUT_ROLE.search(text) else 0.3


def looks_like_place(text: str) -> bool:
    """Whether a text looks like a place or a remote arrangement."""
    text = text.strip()
    if not 1 < len(text) <= 80 or names_role(text):
        return False
    return bool(
        page_locations.looks_like_place(text)
        or _REMOTE.fullmatch(text)
        or _TOWN_FORM.fullmatch(text)
        or any(
            gazetteer.is_place_name(gazetteer.canonical_name(part)) for part in _PARTS.split(text)
        )
    )


def leads_to_posting(url: str) -> bool:
    """Whether a URL looks like that of a posting."""
    parts = urlsplit(url)
    return bool(_POSTING_PATH.search(f"{parts.path}?{parts.query}" if parts.query else parts.path))


def leads_elsewhere(url: str) -> bool:
    """Whether a URL leads to something else; careers sections contain articles, too."""
    if _ARTICLE.search(urlsplit(url).path):
        return True
    return bool(_OTHER_SITE.search(url)) or bool(
        _OTHER_PATH.search(urlsplit(url).path) and not leads_to_posting(url)
    )


@dataclass(frozen=True, slots=True)
class Plausibility:
    """How much the cards of a page look like postings; most values are shares of the cards."""

    postings: int
    role_titles: float
    plausible_titles: float
    posting_urls: float
    other_urls: float
    with_location: float
    on_careers_page: bool
    """Whether the page itself is about jobs."""

    @property
    def score(self) -> float:
        evidence = (
            3 * self.role_titles
            + self.plausible_titles
            + 1.5 * self.posting_urls
            + 0.7 * self.with_location
        )
        return evidence - 3 * self.other_urls + min(self.postings, 20) / 20

    @property
    def is_list_of_postings(self) -> bool:
        """Whether the cards are postings: titles that name a role, and further evidence."""
        if self.postings < 2 or self.other_urls > 0.3 or self.plausible_titles < 0.6:
            return False
        if self.role_titles >= 0.6:
            return self.on_careers_page or self.posting_urls >= 0.5 or self.with_location >= 0.5
        many_posting_urls = self.postings >= 3 and self.posting_urls >= 0.7
        return many_posting_urls and (
            self.role_titles >= 0.3 or (self.on_careers_page and self.with_location >= 0.6)
        )

    @property
    def confidence(self) -> Confidence:
        is_certain = self.postings >= 3 and self.role_titles >= 0.6 and self.posting_urls >= 0.5
        return "medium" if is_certain else "low"


def assess_postings(postings: Sequence[Posting], url: str, heading: str = "") -> Plausibility:
    """Assess the postings read from the page at `url` with this heading."""
    page_url = urldefrag(url)[0].rstrip("/")
    unique: dict[tuple[str, str], Posting] = {}
    for posting in postings:
        if posting.url and posting.title and urldefrag(posting.url)[0].rstrip("/") != page_url:
            unique.setdefault((title_key(posting), posting.url), posting)
    distinct_postings = list(unique.values())
    # Many cards that link to the same URL are not a list of postings.
    distinct = min(
        len({posting.url for posting in distinct_postings}), len({key for key, _ in unique})
    )
    return Plausibility(
        distinct,
        share_of(
            [
                names_role(posting.title) and title_score(posting.title) > 0
                for posting in distinct_postings
            ]
        ),
        share_of([title_score(posting.title) > 0 for posting in distinct_postings]),
        share_of([leads_to_posting(posting.url) for posting in distinct_postings]),
        share_of([leads_elsewhere(posting.url) for posting in distinct_postings]),
        share_of(
            [
                bool(posting.location and len(posting.location) < 120)
                for posting in distinct_postings
            ]
        ),
        is_about_jobs(url, heading),
    )


def title_key(posting: Posting) -> str:
    return normalize(posting.title)


def share_of(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0
