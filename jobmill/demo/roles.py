"""The roles that demo companies hire for, from a perfect fit to no fit: one per line of `roles.csv`."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jobmill.demo.companies import Language


@dataclass(frozen=True, slots=True)
class DemoRole:
    title: str
    department: str
    duties: tuple[str, ...]
    required: tuple[str, ...]
    nice: tuple[str, ...]
    years: tuple[int, int]
    pay: tuple[int, int]
    """Salary range in thousands a year."""
    levels: tuple[str, ...]
    """What the title begins with, empty for nothing; each is as likely as the others."""
    remote_share: float
    """The probability that it is remote."""


def _parse(row: Mapping[str, str]) -> DemoRole:
    return DemoRole(
        title=row["title"],
        department=row["department"],
        duties=_list(row["duties"]),
        required=_list(row["required"]),
        nice=_list(row["nice"]),
        years=_range(row["years"]),
        pay=_range(row["pay"]),
        levels=tuple("" if level == "-" else f"{level} " for level in _list(row["levels"])),
        remote_share=float(row["remote_share"]),
    )


def _list(text: str) -> tuple[str, ...]:
    return tuple(text.split("; ")) if text else ()


def _range(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return int(low), int(high)


def _read_roles() -> dict[str, DemoRole]:
    with Path(__file__).with_name("roles.csv").open(encoding="utf-8", newline="") as file:
        return {row["key"]: _parse(row) for row in csv.DictReader(file)}


ROLES = _read_roles()


def _mix(keys: str) -> tuple[DemoRole, ...]:
    return tuple(ROLES[key] for key in keys.split())


ROLE_MIXES: Mapping[str, tuple[DemoRole, ...]] = {
    "backend": _mix("backend backend platform go data fullstack manager intern crypto sales"),
    "web": _mix("frontend fullstack fullstack backend support manager intern"),
    "data": _mix("data ml data backend sales manager"),
    "hardware": _mix("embedded embedded ml platform intern warehouse"),
    "trades": _mix("warehouse baker sales java support"),
    "clinics": _mix("nurse nurse nurse coordinator java backend support"),
    "freight": _mix("warehouse warehouse warehouse data java fullstack sales"),
    "insurance": _mix("lawyer lawyer lawyer java sales cleared support"),
    "food": _mix("chef chef baker warehouse sales java support"),
    "library": _mix("teacher teacher teacher backend support"),
    "mixed": _mix("backend java java coordinator sales warehouse cleared fullstack support data"),
}
"""A role that is named several times is hired for more often."""


@dataclass(frozen=True, slots=True)
class PostingPhrases:
    """The headings and phrases around a role's text, per language."""

    about: str
    duties: str
    required: str
    nice: str
    years: str
    remote: str
    hybrid: str
    onsite: str
    pay: str


PHRASES: Mapping[Language, PostingPhrases] = {
    "en": PostingPhrases(
        "{company} {trade}. We are {people} people, and we are looking for a {title}.",
        "What you will do",
        "Requirements",
        "Nice to have",
        "{years}+ years of professional experience",
        "This role is fully remote within {area}.",
        "This is a hybrid role: two days a week in our office in {town}.",
        "You work on site in {town}, five days a week.",
        "The base salary is {low} - {high} per year.",
    ),
    "de": PostingPhrases(
        "{company} {trade}. Wir sind {people} Menschen und suchen: {title} (m/w/d).",
        "Ihre Aufgaben",
        "Ihr Profil",
        "Von Vorteil",
        "Mindestens {years} Jahre Berufserfahrung",
        "Die Stelle ist vollständig remote innerhalb von {area}.",
        "Hybrides Arbeiten: zwei Tage pro Woche im Büro in {town}.",
        "Sie arbeiten vor Ort in {town}.",
        "Das Gehalt liegt bei {low} - {high} pro Jahr.",
    ),
    "fr": PostingPhrases(
        "{company} {trade}. Nous sommes {people} personnes et cherchons : {title} (F/H).",
        "Vos missions",
        "Votre profil",
        "Un plus",
        "Au moins {years} ans d'expérience",
        "Le poste est entièrement en télétravail depuis {area}.",
        "Poste hybride : deux jours par semaine au bureau de {town}.",
        "Le poste est basé à {town}, sur site.",
        "Le salaire est de {low} - {high} par an.",
    ),
    "es": PostingPhrases(
        "{company} {trade}. Somos {people} personas y buscamos: {title}.",
        "Qué harás",
        "Requisitos",
        "Se valora",
        "Al menos {years} años de experiencia",
        "El puesto es totalmente remoto desde {area}.",
        "Puesto híbrido: dos días por semana en la oficina de {town}.",
        "Trabajarás de forma presencial en {town}.",
        "El salario es de {low} - {high} al año.",
    ),
}

AREAS: Mapping[Language, str] = {
    "en": "the United States",
    "de": "Deutschland",
    "fr": "France",
    "es": "España",
}
CURRENCIES: Mapping[Language, str] = {"en": "USD", "de": "EUR", "fr": "EUR", "es": "EUR"}
