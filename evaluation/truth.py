"""Expected values from saved responses, extracted with as little code as possible and without the
product.

Only the fields that a record has are compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from evaluation import record_values
from evaluation import truth_aggregators as aggregators
from evaluation.record_values import Record, Truth


def greenhouse(record: Record) -> Truth:
    requisition = record.get("requisition_id") or ""
    place = (record.get("location") or {}).get("name") or ""
    place = "" if place.lower() in ("n/a", "na", "location") else place
    # "Berlin or Paris, London" can be split in more than one way.
    free = re.search(r"(?i)\b(?:or|and)\b|[&/]", place)
    plain = None if free else re.split(r"\s*[;|]\s*", place)
    departments = record.get("departments") or []
    return {
        "title": record["title"],
        "url": record["absolute_url"],
        "vendor_id": record["id"],
        "requisition_id": requisition
        if re.search(r"\d", requisition)
        else record.get("internal_job_id"),
        "company": record.get("company_name"),
        "location": place,
        "locations": plain if place else None,
        "department": departments[0]["name"] if departments else None,
        "posted_at": record_values.parse_time(record.get("first_published")),
        "updated_at": record_values.parse_time(record.get("updated_at")),
        "language": record.get("language"),
        "sections": [record.get("content")],
        "escaped": True,
    }


def lever(record: Record) -> Truth:
    where, pay = record["categories"], record.get("salaryRange") or {}
    period = re.sub(r"^per-|-(salary|wage)$", "", pay.get("interval") or "")
    lists = [part for each in record.get("lists") or [] for part in (each["text"], each["content"])]
    return {
        "title": record["text"],
        "url": record["hostedUrl"],
        "apply_url": record.get("applyUrl"),
        "vendor_id": record["id"],
        "location": where.get("location"),
        "locations": where.get("allLocations") or None,
        "arrangement": record_values.parse_arrangement(record.get("workplaceType")),
        "department": where.get("department"),
        "employment_type": record_values.parse_employment_type(where.get("commitment")),
        "posted_at": record_values.parse_time(record.get("createdAt")),
        "board": urlsplit(record["hostedUrl"]).path.split("/")[1],
        **record_values.salary_fields(pay.get("min"), pay.get("max"), pay.get("currency"), period),
        "sections": [
            record.get("description"),
            *lists,
            record.get("additional"),
            record.get("salaryDescription"),
        ],
    }


def ashby(record: Record) -> Truth:
    others = [each["location"] for each in record.get("secondaryLocations") or []]
    components = (record.get("compensation") or {}).get("summaryComponents") or []
    stated = [
        each for each in components if each["compensationType"] == "Salary" and each.get("minValue")
    ]
    pay = stated[0] if stated else {}
    return {
        "title": record["title"],
        "url": record["jobUrl"],
        "apply_url": record.get("applyUrl"),
        "vendor_id": record["id"],
        "location": record.get("location"),
        "locations": [record["location"], *others] if record.get("location") else None,
        "arrangement": record_values.parse_arrangement(record.get("workplaceType")),
        "department": record.get("department"),
        "employment_type": record_values.parse_employment_type(record.get("employmentType")),
        "posted_at": record_values.parse_time(record.get("publishedAt")),
        "board": urlsplit(record["jobUrl"]).path.split("/")[1],
        **record_values.salary_fields(
            min((each["minValue"] for each in stated), default=None),
            max((each.get("maxValue") or 0 for each in stated), default=None),
            pay.get("currencyCode"),
            (pay.get("interval") or "").removeprefix("1 ").lower(),
        ),
        "sections": [record.get("descriptionHtml") or record.get("descriptionPlain")],
    }


def workday(record: Record) -> Truth:
    if "jobPostingInfo" in record:
        info = record["jobPostingInfo"]
        return {
            "title": info["title"],
            "url": info["externalUrl"],
            "vendor_id": info["jobPostingId"].rpartition("_")[2],
            "requisition_id": info["jobReqId"],
            "company": (record.get("hiringOrganization") or {}).get("name"),
            "location": info["location"],
            "locations": [info["location"], *(info.get("additionalLocations") or [])],
            "employment_type": record_values.parse_employment_type(info.get("timeType")),
            "posted_at": record_values.parse_time(info["startDate"]),
            "sections": [info["jobDescription"]],
        }
    several = re.fullmatch(r"\d+ Locations", record["locationsText"])
    return {
        "title": record["title"],
        "vendor_id": record["externalPath"].rpartition("_")[2],
        "requisition_id": record["bulletFields"][0],
        "location": None if several else record["locationsText"],
        "locations": None if several else [record["locationsText"]],
    }


def smartrecruiters(record: Record) -> Truth:
    sections = record.get("jobAd", {}).get("sections", {})
    texts = {"sections": [each.get("text") for each in sections.values()]}
    if "id" not in record:
        return texts
    place, company = record["location"], record["company"]["identifier"]
    page = f"https://jobs.smartrecruiters.com/{company}/{record['id']}"
    return {
        "title": record["name"],
        "url": record.get("postingUrl") or page,
        "vendor_id": record["id"],
        "requisition_id": record.get("refNumber"),
        "company": record["company"]["name"],
        "board": company,
        "location": place.get("fullLocation"),
        "arrangement": "hybrid" if place.get("hybrid") else "remote" if place["remote"] else None,
        "department": record["department"].get("label"),
        "employment_type": record_values.parse_employment_type(
            (record.get("typeOfEmployment") or {}).get("label")
        ),
        "posted_at": record_values.parse_time(record["releasedDate"]),
        "language": (record.get("language") or {}).get("code"),
        **texts,
    }


def workable(record: Record) -> Truth:
    places = [
        record_values.join_parts(each["city"], each["region"], each["country"])
        for each in record["locations"]
    ]
    return {
        "title": record["title"],
        "url": record["url"],
        "apply_url": record.get("application_url"),
        "vendor_id": record["shortcode"],
        "requisition_id": record.get("code"),
        "location": record_values.join_parts(record["city"], record["state"], record["country"]),
        "locations": places,
        "arrangement": "remote" if record["telecommuting"] else None,
        "department": record["department"],
        "employment_type": record_values.parse_employment_type(record.get("employment_type")),
        "posted_at": record_values.parse_time(record["published_on"]),
        "sections": [record.get("description")],
    }


def recruitee(record: Record) -> Truth:
    pay = record.get("salary") or {}
    flags = {"hybrid": record["hybrid"], "remote": record["remote"], "onsite": record["on_site"]}
    return {
        "title": record["title"],
        "url": record["careers_url"],
        "apply_url": record["careers_apply_url"],
        "vendor_id": record["id"],
        "company": record["company_name"],
        "location": record["location"],
        "locations": [
            record_values.join_parts(e["city"], e["state"], e["country"])
            for e in record["locations"]
        ],
        "arrangement": next((name for name, ticked in flags.items() if ticked), None),
        "department": record["department"],
        "employment_type": record_values.parse_employment_type(record["employment_type_code"]),
        "posted_at": record_values.parse_time(record["published_at"]),
        "updated_at": record_values.parse_time(record["updated_at"]),
        **record_values.salary_fields(
            pay.get("min"), pay.get("max"), pay.get("currency"), pay.get("period")
        ),
        "sections": [record.get("description"), record.get("requirements")],
    }


def teamtailor(record: Record) -> Truth:
    block = record["_jobposting"]
    return {
        "title": record["title"],
        "url": record["url"],
        "vendor_id": record["id"],
        "requisition_id": block["identifier"]["value"],
        "posted_at": record_values.parse_time(block["datePosted"]),
        "cities": [each["address"]["addressLocality"] for each in block["jobLocation"]],
    }


def bamboohr(record: Record) -> Truth:
    return {
        "title": record["jobOpeningName"],
        "vendor_id": record["id"],
        "department": record["departmentLabel"],
        "employment_type": record_values.parse_employment_type(record["employmentStatusLabel"]),
    }


def breezy(record: Record) -> Truth:
    return {
        "title": record["name"],
        "url": record["url"],
        "vendor_id": record["id"],
        "company": record["company"]["name"],
        "location": record["location"]["name"],
        "department": record["department"],
        "employment_type": record_values.parse_employment_type(record["type"]["name"]),
        "posted_at": record_values.parse_time(record["published_date"]),
        "sections": [record.get("description")],
    }


def oracle(record: Record) -> Truth:
    others = [each["Name"] for each in record["secondaryLocations"]]
    return {
        "title": record["Title"],
        "vendor_id": record["Id"],
        "locations": [record["PrimaryLocation"], *others],
        "posted_at": record_values.parse_time(record["PostedDate"]),
    }


def pinpoint(record: Record) -> Truth:
    heads = ("description", "key_responsibilities", "skills_knowledge_expertise", "benefits")
    low, high = record["compensation_minimum"], record["compensation_maximum"]
    return {
        "title": record["title"],
        "url": record["url"],
        "vendor_id": record["id"],
        "requisition_id": record["job"].get("requisition_id"),
        "department": record["job"]["department"]["name"],
        "arrangement": record_values.parse_arrangement(record["workplace_type"]),
        "employment_type": record_values.parse_employment_type(record["employment_type"]),
        **record_values.salary_fields(
            low, high, record["compensation_currency"], record["compensation_frequency"]
        ),
        "sections": [record.get(name) for name in heads],
    }


def rippling(record: Record) -> Truth:
    return {
        "title": record["name"],
        "url": record["url"],
        "vendor_id": record["uuid"],
        "department": record["department"]["label"],
        "locations": [record["workLocation"]["label"]],
    }


def _listed(key: str) -> Callable[[Any], list[Record]]:
    return lambda answer: answer.get(key, [answer])


def _all(answer: Any) -> list[Record]:
    return answer


RULES: dict[str, tuple[Callable[[Any], list[Record]], Callable[[Record], Truth]]] = {
    "greenhouse": (_listed("jobs"), greenhouse),
    "lever": (_all, lever),
    "ashby": (
        lambda answer: [record for record in answer["jobs"] if record.get("isListed") is not False],
        ashby,
    ),
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
    "remoteok": (
        lambda answer: [record for record in answer if "position" in record],
        aggregators.remoteok,
    ),
    "remotive": (_listed("jobs"), aggregators.remotive),
    "themuse": (_listed("results"), aggregators.themuse),
    "usajobs": (lambda answer: answer["SearchResult"]["SearchResultItems"], aggregators.usajobs),
}


def take(platform: str, answer: Any) -> list[Truth]:
    """The expected values of each record of a response."""
    records, rule = RULES[platform]
    return [
        {name: value for name, value in rule(record).items() if value not in (None, "", [])}
        for record in records(answer)
    ]
