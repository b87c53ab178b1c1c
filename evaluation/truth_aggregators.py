"""Expected values from saved responses of aggregators."""

from __future__ import annotations

import datetime as dt
import re

from evaluation import record_values
from evaluation.record_values import Record, Truth


def adzuna(record: Record) -> Truth:
    return {
        "title": record["title"],
        "url": record["redirect_url"],
        "vendor_id": record["id"],
        "company": record["company"]["display_name"],
        "location": record["location"]["display_name"],
        "posted_at": record_values.parse_time(record["created"]),
        **record_values.salary_fields(record.get("salary_min"), record.get("salary_max"), None),
        "salary_known": "predicted" if record["salary_is_predicted"] == "1" else "structured",
        "sections": [record["description"]],
    }


def arbeitnow(record: Record) -> Truth:
    return {
        "title": record["title"],
        "url": record["url"],
        "vendor_id": record["slug"],
        "company": record["company_name"],
        "location": record["location"],
        "arrangement": "remote" if record["remote"] else None,
        "posted_at": record_values.parse_time(record["created_at"]),
        "sections": [record["description"]],
        "escaped": "&lt;" in record["description"],
    }


def himalayas(record: Record) -> Truth:
    return {
        "title": record["title"],
        "url": record["applicationLink"],
        # The site has answered with the name of the field itself.
        "company": record["companyName"] if record["companyName"] != "name" else None,
        "arrangement": "remote",
        "employment_type": record_values.parse_employment_type(record["employmentType"]),
        "posted_at": record_values.parse_time(record["pubDate"]),
        **record_values.salary_fields(record["minSalary"], record["maxSalary"], record["currency"]),
        "sections": [record["description"]],
    }


def jobicy(record: Record) -> Truth:
    return {
        "title": record["jobTitle"],
        "url": record["url"],
        "vendor_id": record["id"],
        "company": record["companyName"],
        "arrangement": "remote",
        "employment_type": record_values.parse_employment_type(record["jobType"][0]),
        "posted_at": record_values.parse_time(record["pubDate"]),
        **record_values.salary_fields(
            record.get("salaryMin"), record.get("salaryMax"), record.get("salaryCurrency")
        ),
        "sections": [record["jobDescription"]],
    }


def reed(record: Record) -> Truth:
    return {
        "title": record["jobTitle"],
        "url": record["jobUrl"],
        "vendor_id": record["jobId"],
        "company": record["employerName"],
        "location": record["locationName"],
        "posted_at": dt.datetime.strptime(record["date"], "%d/%m/%Y").replace(tzinfo=dt.UTC),
        **record_values.salary_fields(
            record["minimumSalary"], record["maximumSalary"], record["currency"]
        ),
        "sections": [record["jobDescription"]],
    }


def remoteok(record: Record) -> Truth:
    # Remove its test for robots, and repair the text, which was decoded with the wrong charset.
    text = re.split("Please mention the word", record["description"])[0]
    text = re.sub(r"[\x80-\xff]{2,}", lambda bad: bad[0].encode("latin-1").decode(), text)
    return {
        "title": record["position"],
        "url": record["url"],
        "vendor_id": record["id"],
        "company": record["company"],
        "posted_at": record_values.parse_time(record["date"]),
        **record_values.salary_fields(record["salary_min"], record["salary_max"], "USD"),
        "sections": [text],
    }


def remotive(record: Record) -> Truth:
    return {
        "title": record["title"],
        "url": record["url"],
        "vendor_id": record["id"],
        "company": record["company_name"],
        "arrangement": "remote",
        "employment_type": record_values.parse_employment_type(record["job_type"]),
        "posted_at": record_values.parse_time(record["publication_date"]),
        "sections": [record["description"]],
    }


def themuse(record: Record) -> Truth:
    return {
        "title": record["name"],
        "url": record["refs"]["landing_page"],
        "vendor_id": record["id"],
        "company": record["company"]["name"],
        "posted_at": record_values.parse_time(record["publication_date"]),
        "sections": [record["contents"]],
    }


def usajobs(record: Record) -> Truth:
    block = record["MatchedObjectDescriptor"]
    pay = block["PositionRemuneration"][0]
    return {
        "title": block["PositionTitle"],
        "company": block["OrganizationName"],
        "posted_at": record_values.parse_time(block["PublicationStartDate"]),
        **record_values.salary_fields(pay["MinimumRange"], pay["MaximumRange"], None),
    }
