"""Keys that are equal for all spellings of a company's name."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from jobmill.plain_text import fold_case

# Legal forms, and words for the careers site; they do not tell companies apart.
_LEGAL_FORMS: Final = re.compile(
    r"inc|incorporated|corp|corporation|co|company|ltd|limited|llc|llp|lp|plc|pllc|pc"
    r"|gmbh|mbh|ggmbh|ag|kg|kgaa|ohg|ug|ev|eg|se|sa|sas|sasu|sarl|srl|sprl|bv|bvba|nv|vof"
    r"|ab|hb|aps|asa|oy|oyj|ehf|hf|pty|pte|pvt|private|sdn|bhd|kk|yk|gk"
    r"|sro|doo|dd|kft|zrt|nyrt|ooo|oao|zao|pao|ao|ead|eood|ood|ltda|eireli|cv|sapi"
    r"|careers?|jobs?|hiring|recruiting|karriere"
)
# Also English words: they count only in the capitals of a legal form.
_CAPITALIZED_FORMS: Final = frozenset({"AS", "SPA", "SpA"})
_MULTI_WORD_FORMS: Final = (("sp", "z", "oo"), ("sa", "de", "cv"), ("a", "s"))
_ASIAN_FORMS: Final = re.compile(
    "株式会社|有限会社|合同会社|股份有限公司|有限责任公司|有限公司|주식회사|㈜|\\(주\\)|\\(株\\)"
)
_DOTTED_LETTERS: Final = re.compile(r"\b(?:[^\W\d_]\.){2,}(?:[^\W\d_]\b)?")


@lru_cache(maxsize=65_536)
def company_key(name: str | None) -> str:
    """The words of a name without its legal form, in folded case; "" only for a name without
    words. Accents stay: Škoda is not Skoda."""
    text = unicodedata.normalize("NFKC", name or "")
    for bare in (_ASIAN_FORMS.sub(" ", text), text):
        words = _strip_legal_form(_words(bare))
        if words:
            return " ".join(fold_case(word) for word in words)
    return ""


def same_company(name: str | None, other_name: str | None) -> bool:
    """Whether two names mean the same company, ignoring spaces ("Blue Fjord", "BlueFjord")."""
    return bool(compact_key(name)) and compact_key(name) == compact_key(other_name)


def compact_key(name: str | None) -> str:
    """The key without spaces, for comparison."""
    return company_key(name).replace(" ", "")


def compact_text(text: str) -> str:
    """A text in the form of `compact_key`, in which the key of a name can be searched. Legal forms stay,
    and nothing is cached."""
    plain = _ASIAN_FORMS.sub(" ", unicodedata.normalize("NFKC", text))
    return "".join(fold_case(word) for word in _words(plain))


def display_name(name: str | None) -> str:
    """The name for display: one line, without a trailing "Careers"."""
    text = " ".join(unicodedata.normalize("NFC", name or "").split())
    bare = re.sub(r"(?i)\W*\b(?:careers?|jobs)$", "", text)
    return bare or text


def _words(text: str) -> list[str]:
    undotted = _DOTTED_LETTERS.sub(lambda form: form[0].replace(".", ""), text)
    spoken = undotted.replace("&", " and ").replace("'", "").replace("\u2019", "")
    # A combining mark belongs to the letter before it, even if Unicode has no composed form.
    return re.findall(r"[^\W_][\w\u0300-\u036f]*", spoken.replace("_", " "))


def _strip_legal_form(words: list[str]) -> list[str]:
    """Remove legal forms and words for the careers site from the end, but never all words."""
    folded = tuple(fold_case(word) for word in words)
    count = len(words)
    while shorter := _drop_last_form(words, folded, count):
        count = shorter
    return words[:count]


def _drop_last_form(words: list[str], folded: tuple[str, ...], count: int) -> int:
    """How many of the first `count` words stand before the legal form at their end; 0 if none do, or
    there is no such form."""
    for form in _MULTI_WORD_FORMS:
        if folded[max(count - len(form), 0) : count] == form:
            return count - len(form)
    last = count - 1
    if count and (_LEGAL_FORMS.fullmatch(folded[last]) or words[last] in _CAPITALIZED_FORMS):
        return last - 1 if last and folded[last - 1] == "and" else last
    return 0
