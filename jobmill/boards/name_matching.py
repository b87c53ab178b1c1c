"""Compares the names of boards, companies and sites, and recognises texts about jobs."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import urlsplit

from jobmill.catalog.company_names import compact_key, compact_text

from .url_detection import DetectedBoard, split_url

_WORK = re.compile(
    r"""career|\bjobs?\b|vacanc|vacature|hiring|join[\s_-]?(?:us|our)|work[\s_-]?(?:with|for|at)\b
    |open[\s_-]?(?:position|role)|positions\b|opportunit|employment|recruit|karriere|stellen|emploi
    |recrutement|carri[eè]re|empleo|trabaj|vagas|lavor|werken[\s_-]?bij|kariera|praca|rekry|jobb
    |采用|採用|招聘|채용""",
    re.IGNORECASE | re.VERBOSE,
)
# Parts of host names that do not name a company.
_COMMON_LABELS = frozenset({"www", "co", "com", "org", "net", "gov", "edu", "ac", "io", "ai"})
_MIN_NAME_LENGTH = 3
_MAX_TEXT_LENGTH = 500_000
_PARENT = (
    r"(?:(?:part|member|subsidiary|division|brand|company) of|(?:owned|acquired) by|belongs to)"
)


def is_about_jobs(url: str, label: str = "") -> bool:
    """Whether a URL or its link text is about jobs."""
    return bool(_WORK.search(label[:500]) or _WORK.search(re.sub(r"[/_.-]+", " ", url[:500])))


def squash_name(name: str) -> str:
    """The name as tokens spell it: letters and digits only, no accents, no legal form."""
    return _letters_and_digits(compact_key(name))


def names_company(text: str, name: str) -> bool:
    """Whether a text, such as that of a page, contains the company's name."""
    return squash_name(name) in _letters_and_digits(compact_text(text))


def _letters_and_digits(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in plain if letter.isalnum())


def is_same_name(first: str, second: str) -> bool:
    """Whether one squashed name begins with or contains the other."""
    short, long = sorted((first, second), key=len)
    if len(short) < _MIN_NAME_LENGTH:
        return short == long != ""
    return long.startswith(short) or (len(short) > _MIN_NAME_LENGTH and short in long)


@dataclass(frozen=True, slots=True)
class OwnerNames:
    """The names of a page's owner, squashed."""

    names: frozenset[str]

    @classmethod
    def of(cls, url: str, company: str | None) -> OwnerNames:
        """From the page's host and, if it is known, the company's name."""
        names = {squash_name(company)} if company else set[str]()
        parts = split_url(url)
        host = parts.netloc if parts else (urlsplit(url).hostname or "")
        labels = [label for label in host.split(".")[:-1] or [host] if label not in _COMMON_LABELS]
        if labels:
            names.add(squash_name(labels[-1]))
        return cls(frozenset(name for name in names if name))

    def match_board(self, board: DetectedBoard) -> bool:
        """Whether the board's token is one of the names."""
        parts = _token_parts(board)
        return any(is_same_name(name, part) for name in self.names for part in parts)

    def is_parent(self, board: DetectedBoard, text: str) -> bool:
        """Whether the text calls the board's owner the parent company of the page's owner."""
        for part in re.split(r"[/.\s_-]+", board.token or ""):
            if len(part) > _MIN_NAME_LENGTH and part.isalnum():
                phrase = rf"\b(?:{_PARENT}\s(?:the\s)?{part}|{part}\s(?:group|family|compan))"
                if re.search(phrase, text[:_MAX_TEXT_LENGTH], re.IGNORECASE):
                    return True
        return False


def _token_parts(board: DetectedBoard) -> list[str]:
    token = board.token or ""
    return [squash_name(part) for part in (token, *token.split("/")) if squash_name(part)]
