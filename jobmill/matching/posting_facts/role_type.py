"""Decide whether a role manages people or is an individual contributor."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from .quoted_lines import quote_line

Role: TypeAlias = Literal["ic", "management"]

ASSISTS = re.compile(
    r"\b(?:assistant|asst|secretary|advisor|associate|partner|support) to\b|\b(?:executive|personal"
    r"|administrative) (?:assistant|secretary)\b|\bchief of staff\b|\boffice of the\b"
)
LEADERS = re.compile(
    r"\b(?:head of|heads? ?,|head$|vp|svp|evp|avp|vice[- ]president|president|chief (?:\w+ ){1,4}?officer"
    r"|c[eftimop]o(?! (?:group|office|team))|ciso|provost|dean|managing director|superintendent|supervisor|foreman|team ?lead(?:er)?\b"
    r"|teamleit\w+|abteilungsleit\w+|bereichsleit\w+|geschäftsführ\w+|directeur|directrice|chef d['\u2019]"
    r"équipe|jefe de equipo|gerente general)\b"
)
DIRECTOR = re.compile(r"(?<!account )(?<!art )(?<!creative )(?<!funeral )(?<!music )\bdirectors?\b")
OF_PEOPLE = re.compile(
    r"\b(?:engineering|software|development|developer|front ?-?end|back ?-?end|full ?-?stack|data"
    r"|machine learning|ml|ai|design|ux|security|infrastructure|platform|devops|sre|site reliability"
    r"|reliability|qa|quality assurance|test|research|science|analytics|team|people|store|shop|restaurant"
    r"|shift|plant|warehouse|branch|regional|district|area|general|department|nursing|nurse|kitchen"
    r"|bar|hotel|centre|center|it|information technology|support|help ?desk|service ?desk|mobile"
    r"|cloud|network|systems|hr|human resources|finance|accounting|recruit\w*|talent acquisition"
    r"|laboratory|lab|maintenance|production|assistant|deputy|group product|group) "
    r"(?:engineering |operations |development |services? )?(?:manager|mgr)\b"
    r"|^(?:senior |sr\.? |assistant |associate |regional )*(?:manager|mgr)\b(?! trainee)"
)
MANAGER = re.compile(r"\b(?:managers?|mgr|gerente|manager[ei]n)\b")
OF_THINGS = re.compile(
    r"\b(?:project|product|program(?:me)?|account|case|brand|community|customer success|success|partner"
    r"|partnerships?|relationship|influencer|content|social media|change"
    r"|activation|deployment|campaign|territory|release|contracts?|client|event|category|asset"
    r"|bid|proposal|portfolio|seo|crm"
    r"|product marketing|technical account|engagement|implementation|onboarding|scrum|grants?"
    r"|key account|solutions?) (?:manager|mgr)\b"
)
MAKERS = re.compile(
    r"\b(?:engineers?|developers?|programmers?|architects?|designers?|analysts?|scientists?|researchers?"
    r"|administrators?|admin|specialists?|consultants?|writers?|technicians?|testers?|sre|swe|sdet"
    r"|accountants?|nurses?|assistants?|representatives?|executives?|associates?|coordinators?"
    r"|recruiters?|editors?|translators?|teachers?|mechanics?|operators?|clerks?|counsel|attorneys?"
    r"|interns?|advocates?|evangelists?|strategists?|buyers?|trainers?|entwickler\w*|ingenieur\w*"
    r"|développeu\w+|ingénieure?|desarrollador\w*|ingenier[oa]|ic)\b"
)
LEADS = re.compile(
    r"\b(?:(?:with|have|has|your|of|\d+|\d+\+) (?:\d+[-\u2013 ]?\d* )?direct reports"
    r"|people[- ]manage(?:r|ment)|line[- ]manage(?:r|ment)?|(?:manage|managing|lead and manage|hire and "
    r"manage|supervise|supervising) (?:and \w+ )?(?:an?|the|our|your) (?:\w+ ){0,3}?team of"
    r"|(?:manage|managing|supervise) (?:\w+ )?(?:engineers|developers|people|employees|staff)"
    r"|hire, (?:\w+, ){0,5}(?:and )?(?:coach|mentor|manage|develop|retain|grow)"
    r"|performance reviews (?:for|of) (?:your|the) team|disziplinarische führung|personalverantwortung)\b",
    re.IGNORECASE,
)
LEADS_HINTS = (
    "direct report", "people", "line manag", "line-manag", "team of", "manage ", "managing", "supervis",
    "hire, ", "performance reviews", "disziplin", "personalverantwortung",
)  # fmt: skip
ALONE_HINTS = ("individual", "direct reports", "managerial", "hands-on ic")
ALONE = re.compile(
    r"\b(?:individual[- ]contributor|no direct reports|non-?managerial|hands-on ic)\b",
    re.IGNORECASE,
)


def read_role(title: str, text: str) -> tuple[Role | None, str]:
    """The role and the words that show it, from the title, else from what the text says about a
    team."""
    role = _role_of_title(title)
    if role == "management":
        return role, title
    small = text.lower()
    alone = ALONE.search(text) if any(hint in small for hint in ALONE_HINTS) else None
    may_lead = not alone and _may_lead(title) and any(hint in small for hint in LEADS_HINTS)
    leads = LEADS.search(text) if may_lead else None
    if leads:
        return "management", quote_line(text, *leads.span())
    return (
        (role, title) if role else ("ic", quote_line(text, *alone.span())) if alone else (None, "")
    )


def _role_of_title(title: str) -> Role | None:
    low = title.lower()
    if ASSISTS.search(low):
        return "ic"
    if LEADERS.search(low) or DIRECTOR.search(low):
        return "management"
    if OF_THINGS.search(low):
        return "ic"
    if OF_PEOPLE.search(low):
        return "management"
    return None if MANAGER.search(low) else "ic" if MAKERS.search(low) else None


def _may_lead(title: str) -> bool:
    """A posting for an engineer that mentions people management describes another role."""
    low = title.lower()
    return bool(re.search(r"\b(?:lead|leader|head|manager|principal|chief)\b", low)) or not (
        MAKERS.search(low)
    )
