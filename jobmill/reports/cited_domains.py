"""Domains that an answer cites: links, footnotes and bare domain names."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from jobmill.matching.posting_facts import skills
from jobmill.places import gazetteer
from jobmill.plain_text import read_word_list

_MAX_DOMAINS: Final = 60
_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_URL: Final = re.compile(
    rf"https?://(?:[^\s/@]{{1,80}}@)?((?:{_LABEL}\.){{1,6}}[a-z0-9-]{{2,24}})", re.IGNORECASE
)
_BARE: Final = re.compile(
    rf"(?<![\w@./-])((?:{_LABEL}\.){{1,5}}[a-z]{{2,18}})(?![\w@-])", re.IGNORECASE
)
_GENERIC_DOMAINS: Final = read_word_list("jobmill.reports", "data/generic_domains.txt")
_FILE_ENDINGS: Final = frozenset(("py", "js", "ts", "md", "sh", "rs", "pl", "cc", "so"))
"""Country domains that are more often file names or abbreviations."""


def cited_domains(text: str, site: str) -> tuple[str, ...]:
    """The domains in a visible text, each once in order of appearance, without "www."."""
    hosts = [(match.start(1), match[1]) for match in _URL.finditer(text)]
    hosts += [
        (match.start(1), match[1]) for match in _BARE.finditer(text) if _is_domain(match[1], site)
    ]
    names = dict.fromkeys(bare_host(host) for _, host in sorted(hosts))
    return tuple(names)[:_MAX_DOMAINS]


def bare_host(host: str) -> str:
    return host.lower().rstrip(".").removeprefix("www.")


def site_host(site: str) -> str:
    """The host of a URL; "" if it has none."""
    try:
        return bare_host(urlsplit(site if "//" in site else f"//{site}").hostname or "")
    except ValueError:
        return ""


def _is_domain(name: str, site: str) -> bool:
    """Whether words with dots are a domain: "acme.com", not "Node.js", "e.g." or "U.S."."""
    ending = name.rsplit(".", 1)[1].lower()
    if bare_host(name) == site_host(site):
        return True
    if ending in _FILE_ENDINGS or skills.canonical_name(name) in skills.all_names():
        return False
    if max(len(part) for part in name.split(".")[:-1]) < 2:
        return False
    # In "founded in Leeds.It" a sentence ends; domains are rarely written with capitals.
    is_country = gazetteer.is_country_code(ending.upper()) and name.rsplit(".", 1)[1].islower()
    return ending in _GENERIC_DOMAINS or is_country
