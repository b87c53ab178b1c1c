"""Whether a board bears the name of a page's owner, and whether words are about work."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import urlsplit

from jobmill.catalog.company_names import compact_key

from .url_detection import Found, split

_WORK = re.compile(
    r"""career|\bjobs?\b|vacanc|vacature|hiring|join[\s_-]?(?:us|our)|work[\s_-]?(?:with|for|at)\b
    |open[\s_-]?(?:position|role)|positions\b|opportunit|employment|recruit|karriere|stellen|emploi
    |recrutement|carri[eè]re|empleo|trabaj|vagas|lavor|werken[\s_-]?bij|kariera|praca|rekry|jobb
    |采用|採用|招聘|채용""",
    re.IGNORECASE | re.VERBOSE,
)
# Labels of a host that name no company.
_COMMON = frozenset({"www", "co", "com", "org", "net", "gov", "edu", "ac", "io", "ai"})
_SHORTEST = 3
_LONGEST_TEXT = 500_000
_PARENT = (
    r"(?:(?:part|member|subsidiary|division|brand|company) of|(?:owned|acquired) by|belongs to)"
)


def about_work(url: str, words: str = "") -> bool:
    """Whether an address or its words speak of working somewhere."""
    return bool(_WORK.search(words[:500]) or _WORK.search(re.sub(r"[/_.-]+", " ", url[:500])))


def squash(name: str) -> str:
    """A name as a token would spell it: letters and digits only, no accents, no legal form."""
    plain = unicodedata.normalize("NFKD", compact_key(name))
    return "".join(letter for letter in plain if letter.isalnum())


def same(one: str, other: str) -> bool:
    """Whether one squashed name begins with or holds the other."""
    short, long = sorted((one, other), key=len)
    if len(short) < _SHORTEST:
        return short == long != ""
    return long.startswith(short) or (len(short) > _SHORTEST and short in long)


@dataclass(frozen=True, slots=True)
class Names:
    """What the owner of a page is called."""

    names: frozenset[str]

    @classmethod
    def of(cls, url: str, company: str | None) -> Names:
        """By the page's host and by the company's name, if it is known."""
        names = {squash(company)} if company else set[str]()
        parts = split(url)
        host = parts.netloc if parts else (urlsplit(url).hostname or "")
        labels = [label for label in host.split(".")[:-1] or [host] if label not in _COMMON]
        if labels:
            names.add(squash(labels[-1]))
        return cls(frozenset(name for name in names if name))

    def tie(self, found: Found) -> bool:
        """Whether a board's token is one of the names."""
        return any(same(name, part) for name in self.names for part in _parts(found))

    def parent(self, found: Found, text: str) -> bool:
        """Whether the text calls the board's owner the parent of the page's."""
        for part in re.split(r"[/.\s_-]+", found.token or ""):
            if len(part) > _SHORTEST and part.isalnum():
                says = rf"\b(?:{_PARENT}\s(?:the\s)?{part}|{part}\s(?:group|family|compan))"
                if re.search(says, text[:_LONGEST_TEXT], re.IGNORECASE):
                    return True
        return False


def _parts(found: Found) -> list[str]:
    token = found.token or ""
    return [squash(part) for part in (token, *token.split("/")) if squash(part)]
