"""What aggregators say of each posting."""

from __future__ import annotations

import datetime as dt
import re

from evaluation import said
from evaluation.said import Record, Truth


def adzuna(one: Record) -> Truth:
    return {
        "title": one["title"],
        "url": one["redirect_url"],
        "vendor_id": one["id"],
        "company": one["company"]["display_name"],
        "location": one["location"]["display_name"],
        "posted_at": said.at(one["created"]),
        **said.pay(one.get("salary_min"), one.get("salary_max"), None),
        "salary_known": "predicted" if one["salary_is_predicted"] == "1" else "structured",
        "sections": [one["description"]],
    }


def arbeitnow(one: Record) -> Truth:
    return {
        "title": one["title"],
        "url": one["url"],
        "vendor_id": one["slug"],
        "company": one["company_name"],
        "location": one["location"],
        "arrangement": "remote" if one["remote"] else None,
        "posted_at": said.at(one["created_at"]),
        "sections": [one["description"]],
        "escaped": "&lt;" in one["description"],
    }


def himalayas(one: Record) -> Truth:
    return {
        "title": one["title"],
        "url": one["applicationLink"],
        # The site has answered with the name of the field itself.
        "company": one["companyName"] if one["companyName"] != "name" else None,
        "arrangement": "remote",
        "employment_type": said.kind(one["employmentType"]),
        "posted_at": said.at(one["pubDate"]),
        **said.pay(one["minSalary"], one["maxSalary"], one["currency"]),
        "sections": [one["description"]],
    }


def jobicy(one: Record) -> Truth:
    return {
        "title": one["jobTitle"],
        "url": one["url"],
        "vendor_id": one["id"],
        "company": one["companyName"],
        "arrangement": "remote",
        "employment_type": said.kind(one["jobType"][0]),
        "posted_at": said.at(one["pubDate"]),
        **said.pay(one.get("salaryMin"), one.get("salaryMax"), one.get("salaryCurrency")),
        "sections": [one["jobDescription"]],
    }


def reed(one: Record) -> Truth:
    return {
        "title": one["jobTitle"],
        "url": one["jobUrl"],
        "vendor_id": one["jobId"],
        "company": one["employerName"],
        "location": one["locationName"],
        "posted_at": dt.datetime.strptime(one["date"], "%d/%m/%Y").replace(tzinfo=dt.UTC),
        **said.pay(one["minimumSalary"], one["maximumSalary"], one["currency"]),
        "sections": [one["jobDescription"]],
    }


def remoteok(one: Record) -> Truth:
    # Its test for robots is no part of the text, and its text was decoded wrongly.
    text = re.split("Please mention the word", one["description"])[0]
    text = re.sub(r"[\x80-\xff]{2,}", lambda bad: bad[0].encode("latin-1").decode(), text)
    return {
        "title": one["position"],
        "url": one["url"],
        "vendor_id": one["id"],
        "company": one["company"],
        "posted_at": said.at(one["date"]),
        **said.pay(one["salary_min"], one["salary_max"], "USD"),
        "sections": [text],
    }


def remotive(one: Record) -> Truth:
    return {
        "title": one["title"],
        "url": one["url"],
        "vendor_id": one["id"],
        "company": one["company_name"],
        "arrangement": "remote",
        "employment_type": said.kind(one["job_type"]),
        "posted_at": said.at(one["publication_date"]),
        "sections": [one["description"]],
    }


def themuse(one: Record) -> Truth:
    return {
        "title": one["name"],
        "url": one["refs"]["landing_page"],
        "vendor_id": one["id"],
        "company": one["company"]["name"],
        "posted_at": said.at(one["publication_date"]),
        "sections": [one["contents"]],
    }


def usajobs(one: Record) -> Truth:
    block = one["MatchedObjectDescriptor"]
    pay = block["PositionRemuneration"][0]
    return {
        "title": block["PositionTitle"],
        "company": block["OrganizationName"],
        "posted_at": said.at(block["PublicationStartDate"]),
        **said.pay(pay["MinimumRange"], pay["MaximumRange"], None),
    }
