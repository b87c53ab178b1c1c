"""A form that a recruiter submits about one applicant of an opening."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from jobmill.web.auth import Recruiter
from jobmill.web.form import Fields
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer


@dataclass(frozen=True, slots=True)
class ApplicantForm:
    opening_id: int
    application_id: int
    fields: Mapping[str, str]
    page: PageRenderer


# Not `def`: FastAPI would run it in a thread.
async def _read_applicant_form(
    opening_id: PathId, application_id: PathId, visitor: Recruiter, fields: Fields, page: Page
) -> ApplicantForm:
    return ApplicantForm(opening_id, application_id, fields, page)


SubmittedApplicantForm = Annotated[ApplicantForm, Depends(_read_applicant_form)]
