"""Words for the parts of documents, their origins and their changes."""

from __future__ import annotations

import re

from jobmill.documents.document import DocumentKind, Paper, Template, Wording
from jobmill.documents.profile_changes import ChangeKind
from jobmill.web.translations import say

ENTRY = re.compile(
    r"resume\.(?P<part>experience|projects|education)\.(?P<entry>\d+)(?:\.(?P<field>\w+)(?:\.(?P<line>\d+))?)?"
)


def kind_name(kind: DocumentKind) -> str:
    return say("Resume") if kind == "resume" else say("Cover letter")


def template_names() -> dict[Template, str]:
    return {"classic": say("Classic"), "modern": say("Modern"), "compact": say("Compact")}


def paper_names() -> dict[Paper, str]:
    return {"a4": "A4", "us-letter": say("US Letter")}


def wording_name(wording: Wording) -> str:
    names = {
        "profile": "",
        "model": say("Reworded by the model"),
        "own": say("Your own edit"),
    }
    return names[wording]


def change_name(kind: ChangeKind) -> str:
    names = {
        "reworded": say("Reworded"),
        "left out": say("Left out"),
        "new in the profile": say("In your profile, not in this document"),
        "no longer in the profile": say("Changed in your profile since"),
    }
    return names[kind]


def event_name(what: str) -> str:
    names = {
        "written": say("written from the profile"),
        "edited": say("edited"),
        "reworded": say("reworded by the model"),
        "restored": say("restored"),
    }
    return names.get(what, what)


def describe_origin(key: str) -> str:
    """Where in the profile or the posting a line comes from."""
    key = key.partition(":")[0]
    if match := ENTRY.fullmatch(key):
        part = {
            "experience": say("Work experience"),
            "projects": say("Project"),
            "education": say("Education"),
        }[match["part"]]
        place = f"{part} {int(match['entry']) + 1}"
        field = match["field"]
        if field == "highlights":
            return say("%(entry)s, line %(n)s", entry=place, n=int(match["line"]) + 1)
        return f"{place}, {_field_name(field)}" if field else place
    parts = key.split(".")
    if parts[0] == "person":
        return say("Name") if parts[1] == "name" else say("Home city")
    first = parts[1] if parts[0] == "resume" and len(parts) > 1 else parts[0]
    return _part_names().get(first, say("Standard phrase"))


def _field_name(field: str) -> str:
    names = {"summary": say("summary"), "skills": say("skills"), "grade": say("grade")}
    return names.get(field, field)


def _part_names() -> dict[str, str]:
    return {
        "headline": say("Headline"),
        "contact": say("Contact details"),
        "summary": say("Summary"),
        "skills": say("Skills"),
        "highlights": say("Highlights"),
        "projects": say("Projects"),
        "achievements": say("Achievements"),
        "licences": say("Licenses and certifications"),
        "languages": say("Languages"),
        "work_authorisation": say("Work authorization"),
        "posting": say("Job posting"),
        "opening": say("Job posting"),
        "website": say("Company website"),
        "date": say("Date of writing"),
    }
