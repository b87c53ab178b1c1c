"""Parse employment types: full-time, part-time, contract, internship and so on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import cast

from . import html_text

_PLACEHOLDER = re.compile(
    r"(?:other|others|n/?a|none|null|unspecified|not (?:specified|applicable)|unknown|any|-+)?"
)
_PERMANENT = re.compile(
    r"permanent|unbefrist|festanstell|indefinid|indetermin|onbepaald|\bcdi\b|tills ?vidare"
)
# The first match wins: internships before temporary work, and both before the hours.
_PATTERNS = (
    ("internship", re.compile(
        r"intern(?:s|ship)?\b|praktik(?:um|ant)|stagiaire|\bstage\b|prácticas|becari|estági|tirocin"
        r"|staż"
    )),
    ("apprenticeship", re.compile(
        r"apprentic|ausbildung|\bazubi|alternan|apprentissage|lehrling|aprendiz|apprendistat"
    )),
    ("volunteer", re.compile(r"volunt|ehrenamt|bénévol|wolontari")),
    ("per_diem", re.compile(r"per ?diem|\bprn\b")),
    ("temporary", re.compile(
        r"temp\b|temps\b(?! (?:plein|partiel|complet))|tempor(?:ary|är|aire|al)|fixed ?term"
        r"|seasonal|befristet|zeitarbeit|leiharbeit|\bcdd\b|intérim|interim|saison|determinad"
        r"|determinat"
        r"|okres określony|visstid|bepaalde tijd|casual"
    )),
    ("contract", re.compile(
        r"contract|freelanc|free lance|selbst(?:st)?ändig|indépendant|autónom|\bb2b\b|\b1099\b"
        r"|self employed|consultant"
    )),
)  # fmt: skip
_HOURS = re.compile(
    r"(?P<full>\bfull or part ?time|full ?time|^full$|\bft\b|vollzeit|temps (?:plein|complet)|tiempo completo|jornada completa"
    r"|tempo (?:pieno|integral|inteiro)|voltijd|fulltime|heltid"
    r"|pełny etat|full day)|(?P<part>part ?time|^part$|\bpt\b|teilzeit|temps partiel|tiempo parcial"
    r"|media jornada|tempo parziale|meio período|deeltijd|deltid|minijob"
    r"|część etatu|geringfügig)"
)
EMPLOYMENT_TYPES = {"full_time", "part_time", *(kind for kind, _ in _PATTERNS)}


def parse_employment_type(label: object) -> str | None:
    """One of EMPLOYMENT_TYPES; the label itself if it matches none; None for an empty label or a
    placeholder. For a list, the first known type, else the first label."""
    if isinstance(label, list | tuple | set | frozenset):
        types = [
            employment_type
            for part in cast(Iterable[object], label)
            if (employment_type := parse_employment_type(part))
        ]
        return next(
            (employment_type for employment_type in types if employment_type in EMPLOYMENT_TYPES),
            types[0] if types else None,
        )
    words = html_text.single_line(label[:200]) if isinstance(label, str) else None
    return _from_label(words) if words else None


def _from_label(words: str) -> str | None:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", words)
    plain = " ".join(re.sub(r"[^\w/]+|_", " ", spaced.lower()).split())
    if _PLACEHOLDER.fullmatch(plain):
        return None
    hours = _HOURS.search(plain)
    for kind, pattern in _PATTERNS:
        is_permanent = kind in ("contract", "temporary") and _PERMANENT.search(plain)
        if not is_permanent and pattern.search(plain):
            return kind
    if hours:
        return "full_time" if hours["full"] else "part_time"
    return words.replace("_", " ")
