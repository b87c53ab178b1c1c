"""Read contact details, links and the permission to work from a resume."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

from jobmill.matching.master_resume import ContactDetails, LinkEntry

from . import date_ranges, home_address
from .built_entry import build_entry

MAX_LENGTH: Final = 20_000
MAX_LINKS: Final = 20
EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}(?<![.-])")
PHONE: Final = re.compile(r"(?<![\w/.@-])(?:\+|00)?\(?\d[\d \u00a0().\u2011/-]{6,22}\d(?![\w@-])")
URL: Final = re.compile(
    r"(?<![\w@.])(?:https?://|www\.|(?=(?:[\w-]{1,20}\.)?(?:linkedin\.com/in|github\.com|gitlab\.com|xing\.com/profile|behance\.net"
    r"|dribbble\.com|medium\.com|stackoverflow\.com|orcid\.org|kaggle\.com)/))[\w.-]{3,80}(?:/[^\s|,;<>()\"']{0,150})?",
    re.IGNORECASE,
)
NETWORKS: Final = {
    "linkedin.com": "LinkedIn",
    "github.com": "GitHub",
    "gitlab.com": "GitLab",
    "xing.com": "Xing",
    "behance.net": "Behance",
    "dribbble.com": "Dribbble",
    "medium.com": "Medium",
    "stackoverflow.com": "Stack Overflow",
    "orcid.org": "ORCID",
    "kaggle.com": "Kaggle",
}
STREET: Final = re.compile(r"^\d{1,5}[a-z]? [^\W\d_]|[^\W\d_]{3,} ?\d{1,4}[a-z]?,|\b\d{4,6}\b", re.IGNORECASE)  # fmt: skip
FULL_ADDRESS: Final = re.compile(
    r"[^\W\d_]{3,}\.? ?\d{1,4}[a-z]?, ?\d{4,5} [^\W\d_]", re.IGNORECASE
)
AUTHORISATION: Final = re.compile(
    r"(?:(?:work (?:authori[sz]ation|permit|eligibility|status|visa)|right to work|visa(?: status)?|residence permit"
    r"|arbeitserlaubnis|aufenthaltstitel|permis de travail|permiso de trabajo)\s?(?::|\s[-\u2013\u2014]\s)\s*(?P<label>\S.{1,150})"
    r"|(?P<words>\b(?:U\.?S\.?|EU|UK|Canadian|Australian|Swiss|British|Irish|American|European) (?:citizen|national|permanent resident)\b"
    r"|\b(?:permanent resident|green card holder)\b|\b(?:authori[sz]ed|eligible|right) to work in [^.;|\n]{2,60}"
    r"|\bH-?1B\b[^.;|\n]{0,40}|\bno (?:visa )?sponsorship (?:required|needed)\b))",
    re.IGNORECASE,
)


def find_contact(lines: Sequence[str], name: str | None) -> ContactDetails:
    """Contact details at the top of a resume."""
    text = "\n".join(lines)[:MAX_LENGTH]
    email = EMAIL.search(text)
    values = {
        "email": email and email.group()[:200],
        "phone": _find_phone(URL.sub(" ", EMAIL.sub(" ", text))),
        "address": _find_address(lines, name),
        "links": find_links(text),
    }
    return ContactDetails.model_validate({key: value for key, value in values.items() if value})


def find_links(text: str) -> list[LinkEntry]:
    """Web addresses, each once."""
    links: dict[str, LinkEntry] = {}
    for match in URL.finditer(EMAIL.sub(" ", text)):
        address = match.group().rstrip(".,:")
        url = address if "://" in address else f"https://{address}"
        host = (urlsplit(url).hostname or "").removeprefix("www.")
        if "." in host:
            label = next((name for domain, name in NETWORKS.items() if f".{host}".endswith(f".{domain}")), "Website")  # fmt: skip
            links.setdefault(url.casefold(), build_entry(LinkEntry, label=label, url=url))
    return list(links.values())[:MAX_LINKS]


def find_authorisation(lines: Iterable[str]) -> list[str]:
    """What the person states about their permission to work, in their words."""
    matches = (match for line in lines for match in AUTHORISATION.finditer(line[:300]))
    texts = ((match["label"] or match["words"]).strip(" .,;|") for match in matches)
    return list(dict.fromkeys(texts))[:20]


def _find_phone(text: str) -> str | None:
    for line in text.splitlines():
        for match in PHONE.finditer(line):
            number = match.group().strip(" -/.")
            digits = sum(mark.isdigit() for mark in number)
            if 7 <= digits <= 15 and not date_ranges.RANGE.search(number) and not _is_date(number):
                return number if number.count("(") == number.count(")") else number.strip("()")
    return None


def _is_date(number: str) -> bool:
    return bool(re.fullmatch(r"\d{1,2}[./-]\d{1,2}[./-]\d{4}|\d{4}-\d\d-\d\d", number))


def _find_address(lines: Iterable[str], name: str | None) -> str | None:
    """The part of a line with a street or postcode, from which the home city was read."""
    for line in lines:
        for part in home_address.PART.split(line[: home_address.MAX_LINE_LENGTH].strip()):
            bare = home_address.LABEL.sub("", part)
            is_known = bare != part or FULL_ADDRESS.search(bare) or home_address.find_home_city([bare], name)  # fmt: skip
            if is_known and STREET.search(bare) and "@" not in bare:
                return bare.strip(" ,")
    return None
