"""Platforms that we recognise, so that nobody takes them for something else, but cannot read."""

from __future__ import annotations

import re
from typing import Any

from ..platform import Groups, Mark, Platform, UrlPattern, at

_LABEL = r"(?P<token>[a-z0-9-]+)"
_PATH = r"/(?P<token>[^/]+)"
_LANGUAGE = r"(?:/[a-z]{2}-[a-z]{2,4})?"


def _named(*parts: str, ending: str = "") -> Any:
    """A config whose token is made of these groups, those that are there, in this order."""

    def config_from(groups: Groups) -> dict[str, Any] | None:
        token = "/".join(groups[part] for part in parts if groups.get(part))
        if not token:
            return None
        site = {"base_url": f"https://{groups['host']}"} if groups["host"] else {}
        return {"board_token": token + ending, **site}

    return config_from


def _recognised(
    name: str,
    title: str,
    *urls: UrlPattern,
    parts: tuple[str, ...] = ("token",),
    marks: tuple[Mark, ...] = (),
) -> Platform:
    return Platform(name=name, title=title, urls=urls, marks=marks, config_from=_named(*parts))


_SUCCESSFACTORS = ("successfactors.com", "successfactors.eu", "sapsf.com", "sapsf.eu", "sapsf.cn")

PLATFORMS: tuple[Platform, ...] = (
    _recognised(
        "adp",
        "ADP",
        at("adp.com", "workforcenow", "/mascsr/", query=("cid", "ccId")),
        at("adp.com", "workforcenow", "/mascsr/", query=("cid",)),
        at("adp.com", "recruiting", "/srccar/", query=("c",)),
        at("adp.com", "myjobs", _PATH),
        parts=("token", "cid", "c", "ccId"),
    ),
    _recognised("almacareer", "Alma Career", at("jobs.cz", _LABEL)),
    _recognised("avature", "Avature", at("avature.net", _LABEL)),
    _recognised("beisen", "Beisen", at("zhiye.com", _LABEL)),
    _recognised(
        "brassring",
        "BrassRing",
        at("brassring.com", r"[a-z]*jobs", query=("partnerid", "siteid")),
        parts=("partnerid", "siteid"),
    ),
    _recognised(
        "comeet",
        "Comeet",
        at("comeet.com", "www", r"/jobs/(?P<token>[^/]+)"),
        at("comeet.co", "www", r"/jobs/(?P<token>[^/]+)"),
    ),
    _recognised("cornerstone", "Cornerstone", at("csod.com", _LABEL)),
    # The .in and the .com hosts are two houses: the same name may stand in both.
    Platform(
        "darwinbox",
        "Darwinbox",
        urls=(at("darwinbox.in", _LABEL), at("darwinbox.com", _LABEL)),
        config_from=lambda groups: _named(
            "token", ending=".com" if groups["host"].endswith(".com") else ""
        )(groups),
    ),
    _recognised(
        "dayforce",
        "Dayforce",
        at("dayforcehcm.com", "jobs", rf"{_LANGUAGE}{_PATH}/(?P<board>[^/]+)"),
        at("dayforcehcm.com", r"[a-z0-9]+", rf"/CandidatePortal{_LANGUAGE}{_PATH}"),
        parts=("token", "board"),
    ),
    _recognised("eightfold", "Eightfold", at("eightfold.ai", _LABEL)),
    _recognised("gem", "Gem", at("gem.com", "jobs", _PATH)),
    _recognised("gupy", "Gupy", at("gupy.io", _LABEL)),
    _recognised("herp", "HERP", at("herp.careers", "", rf"/v1{_PATH}")),
    _recognised("hrmos", "HRMOS", at("hrmos.co", "", rf"/pages{_PATH}")),
    _recognised(
        "jobylon",
        "Jobylon",
        at("jobylon.com", "cdn|emp", r"/jobs/companies/(?P<token>\d+)"),
        at("jobylon.com", "embed-css", r"/c_(?P<token>\d+)"),
        at("jobylon.com", "cdn|emp", r"/jobs/"),
        marks=(
            Mark(re.compile(r"jbl_company_id\s{0,3}=\s{0,3}(?P<token>\d{1,9})\b"), "its widget"),
        ),
    ),
    _recognised("join", "JOIN", at("join.com", "", rf"/companies{_PATH}")),
    _recognised("keka", "Keka", at("keka.com", _LABEL)),
    Platform(
        "moka",
        "Moka",
        urls=(
            at(
                "mokahr.com",
                r"app|(?P<region>[a-z]+-\w+)",
                rf"/(?:social|(?P<kind>campus))[-_]recruitment{_PATH}/(?P<number>\d+)",
            ),
        ),
        config_from=_named("region", "token", "number", "kind"),
    ),
    _recognised(
        "pageup",
        "PageUp",
        at("pageuppeople.com", "careers", r"/(?P<token>\d+/[a-z]+/[a-z-]+)"),
    ),
    _recognised(
        "paycom",
        "Paycom",
        at("paycomonline.net", "www", rf"/v4/ats/web\.php/portal{_PATH}"),
        at("paycomonline.net", "www", r"/v4/ats/", query=("clientkey",)),
        parts=("token", "clientkey"),
    ),
    _recognised(
        "paylocity",
        "Paylocity",
        at("paylocity.com", "recruiting", r"/recruiting/jobs/[a-z]+/(?P<token>[\da-f-]{36})"),
        at("paylocity.com", "recruiting", r"/recruiting/jobs/"),
    ),
    _recognised(
        "phenom",
        "Phenom",
        marks=(
            Mark(re.compile(r"phApp\.ddo"), "Phenom's page state", hosted=True),
            Mark(re.compile(r"cdn\.phenompeople\.com/"), "Phenom's files", hosted=True),
        ),
    ),
    _recognised("recruiter_co_kr", "Recruiter.co.kr", at("recruiter.co.kr", _LABEL)),
    _recognised(
        "recruiterbox",
        "Trakstar Hire",
        at("recruiterbox.com", _LABEL),
        at("trakstar.com", rf"{_LABEL}\.hire"),
    ),
    _recognised(
        "softgarden",
        "softgarden",
        at("softgarden.io", _LABEL),
        at("softgarden.de", rf"{_LABEL}\.career"),
    ),
    _recognised(
        "successfactors",
        "SuccessFactors",
        *(at(domain, r"[a-z0-9-]+", query=("company",)) for domain in _SUCCESSFACTORS),
        at("jobs2web.com", _LABEL),
        marks=(Mark(re.compile(r"rmkcdn\.successfactors\.com/"), "its files", hosted=True),),
        parts=("token", "company"),
    ),
    _recognised(
        "taleo",
        "Taleo",
        at("taleo.net", r"[a-z]+\.tbe", r"/\w+/ats/", query=("org",)),
        at("taleo.net", _LABEL, "/careersection/"),
        parts=("token", "org"),
    ),
    _recognised("traffit", "Traffit", at("traffit.com", _LABEL)),
    _recognised(
        "ukg",
        "UKG",
        at("ultipro.com", r"recruiting\d?", rf"{_PATH}/JobBoard\b"),
        at("ultipro.ca", r"recruiting\d?", rf"{_PATH}/JobBoard\b"),
        at("ukg.net", r"[a-z0-9-]+\.rec\.pro", rf"{_PATH}/JobBoard\b"),
    ),
    _recognised("umantis", "Umantis", at("umantis.com", r"recruitingapp-(?P<token>\d+)")),
)
