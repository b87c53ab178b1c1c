"""Platforms that are recognised but cannot be read, so that detection does not mistake them for
others."""

from __future__ import annotations

from typing import Any

from ..platform import BoardUrl, HtmlMarker, Platform, UrlGroups, board_url, html_marker

_LABEL = r"(?P<token>[a-z0-9-]+)"
_PATH = r"/(?P<token>[^/]+)"
_LANGUAGE = r"(?:/[a-z]{2}-[a-z]{2,4})?"


def _named(*parts: str, ending: str = "") -> Any:
    """The config with a token of all matched groups, in this order."""

    def config_from_url(groups: UrlGroups) -> dict[str, Any] | None:
        token = "/".join(groups[part] for part in parts if groups.get(part))
        if not token:
            return None
        site = {"base_url": f"https://{groups['host']}"} if groups["host"] else {}
        return {"board_token": token + ending, **site}

    return config_from_url


def _recognised(
    name: str,
    title: str,
    *urls: BoardUrl,
    parts: tuple[str, ...] = ("token",),
    markers: tuple[HtmlMarker, ...] = (),
) -> Platform:
    return Platform(
        name=name,
        title=title,
        board_urls=urls,
        html_markers=markers,
        config_from_url=_named(*parts),
    )


_SUCCESSFACTORS = ("successfactors.com", "successfactors.eu", "sapsf.com", "sapsf.eu", "sapsf.cn")

PLATFORMS: tuple[Platform, ...] = (
    _recognised(
        "adp",
        "ADP",
        board_url("adp.com", "workforcenow", "/mascsr/", query=("cid", "ccId")),
        board_url("adp.com", "workforcenow", "/mascsr/", query=("cid",)),
        board_url("adp.com", "recruiting", "/srccar/", query=("c",)),
        board_url("adp.com", "myjobs", _PATH),
        parts=("token", "cid", "c", "ccId"),
    ),
    _recognised("almacareer", "Alma Career", board_url("jobs.cz", _LABEL)),
    _recognised("avature", "Avature", board_url("avature.net", _LABEL)),
    _recognised("beisen", "Beisen", board_url("zhiye.com", _LABEL)),
    _recognised(
        "brassring",
        "BrassRing",
        board_url("brassring.com", r"[a-z]*jobs", query=("partnerid", "siteid")),
        parts=("partnerid", "siteid"),
    ),
    _recognised(
        "comeet",
        "Comeet",
        board_url("comeet.com", "www", r"/jobs/(?P<token>[^/]+)"),
        board_url("comeet.co", "www", r"/jobs/(?P<token>[^/]+)"),
    ),
    _recognised("cornerstone", "Cornerstone", board_url("csod.com", _LABEL)),
    # The .in and .com hosts are separate: the same name may be a different company.
    Platform(
        "darwinbox",
        "Darwinbox",
        board_urls=(board_url("darwinbox.in", _LABEL), board_url("darwinbox.com", _LABEL)),
        config_from_url=lambda groups: _named(
            "token", ending=".com" if groups["host"].endswith(".com") else ""
        )(groups),
    ),
    _recognised(
        "dayforce",
        "Dayforce",
        board_url("dayforcehcm.com", "jobs", rf"{_LANGUAGE}{_PATH}/(?P<board>[^/]+)"),
        board_url("dayforcehcm.com", r"[a-z0-9]+", rf"/CandidatePortal{_LANGUAGE}{_PATH}"),
        parts=("token", "board"),
    ),
    _recognised("eightfold", "Eightfold", board_url("eightfold.ai", _LABEL)),
    _recognised("gem", "Gem", board_url("gem.com", "jobs", _PATH)),
    _recognised("gupy", "Gupy", board_url("gupy.io", _LABEL)),
    _recognised("herp", "HERP", board_url("herp.careers", "", rf"/v1{_PATH}")),
    _recognised("hrmos", "HRMOS", board_url("hrmos.co", "", rf"/pages{_PATH}")),
    _recognised(
        "jobylon",
        "Jobylon",
        board_url("jobylon.com", "cdn|emp", r"/jobs/companies/(?P<token>\d+)"),
        board_url("jobylon.com", "embed-css", r"/c_(?P<token>\d+)"),
        board_url("jobylon.com", "cdn|emp", r"/jobs/"),
        markers=(html_marker(r"jbl_company_id\s{0,3}=\s{0,3}(?P<token>\d{1,9})\b", "its widget"),),
    ),
    _recognised("join", "JOIN", board_url("join.com", "", rf"/companies{_PATH}")),
    _recognised("keka", "Keka", board_url("keka.com", _LABEL)),
    Platform(
        "moka",
        "Moka",
        board_urls=(
            board_url(
                "mokahr.com",
                r"app|(?P<region>[a-z]+-\w+)",
                rf"/(?:social|(?P<kind>campus))[-_]recruitment{_PATH}/(?P<number>\d+)",
            ),
        ),
        config_from_url=_named("region", "token", "number", "kind"),
    ),
    _recognised(
        "pageup",
        "PageUp",
        board_url("pageuppeople.com", "careers", r"/(?P<token>\d+/[a-z]+/[a-z-]+)"),
    ),
    _recognised(
        "paycom",
        "Paycom",
        board_url("paycomonline.net", "www", rf"/v4/ats/web\.php/portal{_PATH}"),
        board_url("paycomonline.net", "www", r"/v4/ats/", query=("clientkey",)),
        parts=("token", "clientkey"),
    ),
    _recognised(
        "paylocity",
        "Paylocity",
        board_url(
            "paylocity.com", "recruiting", r"/recruiting/jobs/[a-z]+/(?P<token>[\da-f-]{36})"
        ),
        board_url("paylocity.com", "recruiting", r"/recruiting/jobs/"),
    ),
    _recognised(
        "phenom",
        "Phenom",
        markers=(
            html_marker(r"phApp\.ddo", "Phenom's page state", hosted=True),
            html_marker(r"cdn\.phenompeople\.com/", "Phenom's files", hosted=True),
        ),
    ),
    _recognised("recruiter_co_kr", "Recruiter.co.kr", board_url("recruiter.co.kr", _LABEL)),
    _recognised(
        "recruiterbox",
        "Trakstar Hire",
        board_url("recruiterbox.com", _LABEL),
        board_url("trakstar.com", rf"{_LABEL}\.hire"),
    ),
    _recognised(
        "softgarden",
        "softgarden",
        board_url("softgarden.io", _LABEL),
        board_url("softgarden.de", rf"{_LABEL}\.career"),
    ),
    _recognised(
        "successfactors",
        "SuccessFactors",
        *(board_url(domain, r"[a-z0-9-]+", query=("company",)) for domain in _SUCCESSFACTORS),
        board_url("jobs2web.com", _LABEL),
        markers=(html_marker(r"rmkcdn\.successfactors\.com/", "its files", hosted=True),),
        parts=("token", "company"),
    ),
    _recognised(
        "taleo",
        "Taleo",
        board_url("taleo.net", r"[a-z]+\.tbe", r"/\w+/ats/", query=("org",)),
        board_url("taleo.net", _LABEL, "/careersection/"),
        parts=("token", "org"),
    ),
    _recognised("traffit", "Traffit", board_url("traffit.com", _LABEL)),
    _recognised(
        "ukg",
        "UKG",
        board_url("ultipro.com", r"recruiting\d?", rf"{_PATH}/JobBoard\b"),
        board_url("ultipro.ca", r"recruiting\d?", rf"{_PATH}/JobBoard\b"),
        board_url("ukg.net", r"[a-z0-9-]+\.rec\.pro", rf"{_PATH}/JobBoard\b"),
    ),
    _recognised("umantis", "Umantis", board_url("umantis.com", r"recruitingapp-(?P<token>\d+)")),
)
