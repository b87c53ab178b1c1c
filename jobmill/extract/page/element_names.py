"""Infer the role of an element from its class names and ids."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, TypeAlias

ElementRole: TypeAlias = Literal[
    "title", "heading", "company name", "company", "location", "posted", "body", "aside"
]

_SEPARATOR = re.compile(r"[-_:.\s]+")
_ASIDE = (
    "similar related recommend sidebar footer navi topnav mainnav subnav navbar menu search widget"
    " cookie consent breadcrumb filter"
)
# Parts of class names, without separators.
_ROLE_PARTS: dict[ElementRole, str] = {
    "title": "jobtitle positiontitle postingtitle vacancytitle openingtitle roletitle offertitle"
    " jobname positionname vacancyname titlejob namejob jobheadline postingheadline stellentitel"
    " jobtitel",
    "heading": "title heading headline titulo titre titel",
    "company name": "companyname employername organizationname organisationname companytitle"
    " companyheader companylink employerlink hiringorganization advertisername firmenname",
    "company": "company employer organization organisation advertiser hiring firma arbeitgeber"
    " empresa entreprise unternehmen",
    "location": "location locality standort arbeitsort ubicaci workplace jobplace jobcity"
    " einsatzort",
    "posted": "posted publish postdate postingdate postingtime jobdate listdate pubdate createdate",
    "body": "descri jobbody content richtext posting details",
}
# Parts that exclude a role.
_EXCLUDED_PARTS: dict[ElementRole, str] = {
    "title": "section",
    "heading": "section subtitle",
    "company name": "descri overview tool",
    "company": "descri overview about info tool links detail rating",
    "location": "allocat relocat",
    "posted": "update expir clos deadline valid start copyright picker",
}
_ASIDE_PARTS = tuple(_ASIDE.split())
_ROLE_RULES: list[tuple[ElementRole, tuple[str, ...], tuple[str, ...]]] = [
    (role, tuple(parts.split()), tuple(_EXCLUDED_PARTS.get(role, "").split()))
    for role, parts in _ROLE_PARTS.items()
]


# Pages of one site repeat the same names.
@lru_cache(maxsize=4_096)
def roles_of_names(names: str) -> frozenset[ElementRole]:
    """The roles of an element with these classes, ids and test ids."""
    words = _SEPARATOR.split(names.lower())
    joined = "".join(words)
    if "nav" in words or "aside" in words or any(part in joined for part in _ASIDE_PARTS):
        return frozenset(("aside",))
    roles: set[ElementRole] = {
        role
        for role, parts, unless in _ROLE_RULES
        if any(part in joined for part in parts) and not any(part in joined for part in unless)
    }
    if "city" in words or "lieu" in words:
        roles.add("location")
    return frozenset(roles)
