"""What saved answers say, taken from them by as little code as possible and none of the product's.

Each entry names only what the answer has; what it lacks is not compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from evaluation import said
from evaluation import truth_aggregators as aggregators
from evaluation.said import Record, Truth


def greenhouse(one: Record) -> Truth:
    own = one.get("requisition_id") or ""
    place = (one.get("location") or {}).get("name") or ""
    place = "" if place.lower() in ("n/a", "na", "location") else place
    # "Berlin or Paris, London" can be taken apart in more than one way.
    free = re.search(r"(?i)\b(?:or|and)\b|[&/]", place)
    plain = None if free else re.split(r"\s*[;|]\s*", place)
    departments = one.get("departments") or []
    return {
        "title": one["title"],
        "url": one["absolute_url"],
        "vendor_id": one["id"],
        "requisition_id": own if re.search(r"\d", own) else one.get("internal_job_id"),
        "company": one.get("company_name"),
        "location": place,
        "locations": plain if place else None,
        "department": departments[0]["name"] if departments else None,
        "posted_at": said.at(one.get("first_published")),
        "updated_at": said.at(one.get("updated_at")),
        "language": one.get("language"),
        "sections": [one.get("content")],
        "escaped": True,
    }


def lever(one: Record) -> Truth:
    where, pay = one["categories"], one.get("salaryRange") or {}
    period = re.sub(r"^per-|-(salary|wage)$", "", pay.get("interval") or "")
    lists = [part for each in one.get("lists") or [] for part in (each["text"], each["content"])]
    return {
        "title": one["text"],
        "url": one["hostedUrl"],
        "apply_url": one.get("applyUrl"),
        "vendor_id": one["id"],
        "location": where.get("location"),
        "locations": where.get("allLocations") or None,
        "arrangement": said.where(one.get("workplaceType")),
        "department": where.get("department"),
        "employment_type": said.kind(where.get("commitment")),
        "posted_at": said.at(one.get("createdAt")),
        "board": urlsplit(one["hostedUrl"]).path.split("/")[1],
        **said.pay(pay.get("min"), pay.get("max"), pay.get("currency"), period),
        "sections": [
            one.get("description"),
            *lists,
            one.get("additional"),
            one.get("salaryDescription"),
        ],
    }


def ashby(one: Record) -> Truth:
    others = [each["location"] for each in one.get("secondaryLocations") or []]
    components = (one.get("compensation") or {}).get("summaryComponents") or []
    stated = [
        each for each in components if each["compensationType"] == "Salary" and each.get("minValue")
    ]
    pay = stated[0] if stated else {}
    return {
        "title": one["title"],
        "url": one["jobUrl"],
        "apply_url": one.get("applyUrl"),
        "vendor_id": one["id"],
        "location": one.get("location"),
        "locations": [one["location"], *others] if one.get("location") else None,
        "arrangement": said.where(one.get("workplaceType")),
        "department": one.get("department"),
        "employment_type": said.kind(one.get("employmentType")),
        "posted_at": said.at(one.get("publishedAt")),
        "board": urlsplit(one["jobUrl"]).path.split("/")[1],
        **said.pay(
            min((each["minValue"] for each in stated), default=None),
            max((each.get("maxValue") or 0 for each in stated), default=None),
            pay.get("currencyCode"),
            (pay.get("interval") or "").removeprefix("1 ").lower(),
        ),
        "sections": [one.get("descriptionHtml") or one.get("descriptionPlain")],
    }


def workday(one: Record) -> Truth:
    if "jobPostingInfo" in one:
        info = one["jobPostingInfo"]
        return {
            "title": info["title"],
            "url": info["externalUrl"],
            "vendor_id": info["jobPostingId"].rpartition("_")[2],
            "requisition_id": info["jobReqId"],
            "company": (one.get("hiringOrganization") or {}).get("name"),
            "location": info["location"],
            "locations": [info["location"], *(info.get("additionalLocations") or [])],
            "employment_type": said.kind(info.get("timeType")),
            "posted_at": said.at(info["startDate"]),
            "sections": [info["jobDescription"]],
        }
    several = re.fullmatch(r"\d+ Locations", one["locationsText"])
    return {
        "title": one["title"],
        "vendor_id": one["externalPath"].rpartition("_")[2],
        "requisition_id": one["bulletFields"][0],
        "location": None if several else one["locationsText"],
        "locations": None if several else [one["locationsText"]],
    }


def smartrecruiters(one: Record) -> Truth:
    sections = one.get("jobAd", {}).get("sections", {})
    texts = {"sections": [each.get("text") for each in sections.values()]}
    if "id" not in one:
        return texts
    place, company = one["location"], one["company"]["identifier"]
    page = f"https://jobs.smartrecruiters.com/{company}/{one['id']}"
    return {
        "title": one["name"],
        "url": one.get("postingUrl") or page,
        "vendor_id": one["id"],
        "requisition_id": one.get("refNumber"),
        "company": one["company"]["name"],
        "board": company,
        "location": place.get("fullLocation"),
        "arrangement": "hybrid" if place.get("hybrid") else "remote" if place["remote"] else None,
        "department": one["department"].get("label"),
        "employment_type": said.kind((one.get("typeOfEmployment") or {}).get("label")),
        "posted_at": said.at(one["releasedDate"]),
        "language": (one.get("language") or {}).get("code"),
        **texts,
    }


def workable(one: Record) -> Truth:
    places = [said.line(each["city"], each["region"], each["country"]) for each in one["locations"]]
    return {
        "title": one["title"],
        "url": one["url"],
        "apply_url": one.get("application_url"),
        "vendor_id": one["shortcode"],
        "requisition_id": one.get("code"),
        "location": said.line(one["city"], one["state"], one["country"]),
        "locations": places,
        "arrangement": "remote" if one["telecommuting"] else None,
        "department": one["department"],
        "employment_type": said.kind(one.get("employment_type")),
        "posted_at": said.at(one["published_on"]),
        "sections": [one.get("description")],
    }


def recruitee(one: Record) -> Truth:
    pay = one.get("salary") or {}
    flags = {"hybrid": one["hybrid"], "remote": one["remote"], "onsite": one["on_site"]}
    return {
        "title": one["title"],
        "url": one["careers_url"],
        "apply_url": one["careers_apply_url"],
        "vendor_id": one["id"],
        "company": one["company_name"],
        "location": one["location"],
        "locations": [said.line(e["city"], e["state"], e["country"]) for e in one["locations"]],
        "arrangement": next((name for name, ticked in flags.items() if ticked), None),
        "department": one["department"],
        "employment_type": said.kind(one["employment_type_code"]),
        "posted_at": said.at(one["published_at"]),
        "updated_at": said.at(one["updated_at"]),
        **said.pay(pay.get("min"), pay.get("max"), pay.get("currency"), pay.get("period")),
        "sections": [one.get("description"), one.get("requirements")],
    }


def teamtailor(one: Record) -> Truth:
    block = one["_jobposting"]
    return {
        "title": one["title"],
        "url": one["url"],
        "vendor_id": one["id"],
        "requisition_id": block["identifier"]["value"],
        "posted_at": said.at(block["datePosted"]),
        "cities": [each["address"]["addressLocality"] for each in block["jobLocation"]],
    }


def bamboohr(one: Record) -> Truth:
    return {
        "title": one["jobOpeningName"],
        "vendor_id": one["id"],
        "department": one["departmentLabel"],
        "employment_type": said.kind(one["employmentStatusLabel"]),
    }


def breezy(one: Record) -> Truth:
    return {
        "title": one["name"],
        "url": one["url"],
        "vendor_id": one["id"],
        "company": one["company"]["name"],
        "location": one["location"]["name"],
        "department": one["department"],
        "employment_type": said.kind(one["type"]["name"]),
        "posted_at": said.at(one["published_date"]),
        "sections": [one.get("description")],
    }


def oracle(one: Record) -> Truth:
    others = [each["Name"] for each in one["secondaryLocations"]]
    return {
        "title": one["Title"],
        "vendor_id": one["Id"],
        "locations": [one["PrimaryLocation"], *others],
        "posted_at": said.at(one["PostedDate"]),
    }


def pinpoint(one: Record) -> Truth:
    heads = ("description", "key_responsibilities", "skills_knowledge_expertise", "benefits")
    low, high = one["compensation_minimum"], one["compensation_maximum"]
    return {
        "title": one["title"],
        "url": one["url"],
        "vendor_id": one["id"],
        "requisition_id": one["job"].get("requisition_id"),
        "department": one["job"]["department"]["name"],
        "arrangement": said.where(one["workplace_type"]),
        "employment_type": said.kind(one["employment_type"]),
        **said.pay(low, high, one["compensation_currency"], one["compensation_frequency"]),
        "sections": [one.get(name) for name in heads],
    }


def rippling(one: Record) -> Truth:
    return {
        "title": one["name"],
        "url": one["url"],
        "vendor_id": one["uuid"],
        "department": one["department"]["label"],
        "locations": [one["workLocation"]["label"]],
    }


def _listed(key: str) -> Callable[[Any], list[Record]]:
    return lambda answer: answer.get(key, [answer])


def _all(answer: Any) -> list[Record]:
    return answer


RULES: dict[str, tuple[Callable[[Any], list[Record]], Callable[[Record], Truth]]] = {
    "greenhouse": (_listed("jobs"), greenhouse),
    "lever": (_all, lever),
    "ashby": (lambda a: [one for one in a["jobs"] if one.get("isListed") is not False], ashby),
    "workday": (_listed("jobPostings"), workday),
    "smartrecruiters": (_listed("content"), smartrecruiters),
    "workable": (_listed("jobs"), workable),
    "recruitee": (_listed("offers"), recruitee),
    "teamtailor": (_listed("items"), teamtailor),
    "bamboohr": (_listed("result"), bamboohr),
    "breezy": (_all, breezy),
    "oracle": (lambda answer: answer["items"][0]["requisitionList"], oracle),
    "pinpoint": (_listed("data"), pinpoint),
    "rippling": (_all, rippling),
    "adzuna": (_listed("results"), aggregators.adzuna),
    "arbeitnow": (_listed("data"), aggregators.arbeitnow),
    "himalayas": (_listed("jobs"), aggregators.himalayas),
    "jobicy": (_listed("jobs"), aggregators.jobicy),
    "reed": (_listed("results"), aggregators.reed),
    "remoteok": (lambda answer: [one for one in answer if "position" in one], aggregators.remoteok),
    "remotive": (_listed("jobs"), aggregators.remotive),
    "themuse": (_listed("results"), aggregators.themuse),
    "usajobs": (lambda answer: answer["SearchResult"]["SearchResultItems"], aggregators.usajobs),
}


def take(platform: str, answer: Any) -> list[Truth]:
    """What each record of an answer says."""
    records, rule = RULES[platform]
    return [
        {name: value for name, value in rule(one).items() if value not in (None, "", [])}
        for one in records(answer)
    ]
