"""A profile with a master resume and a posting that asks for some of it."""

from __future__ import annotations

import datetime as dt
from typing import Any

from jobmill.catalog.posting import Posting
from jobmill.documents import drafting
from jobmill.documents.document import ApplicationDocument
from jobmill.matching.profile import Profile

TODAY = dt.date(2026, 11, 17)
TRAINED = "Trained 12 new nurses in ventilator management"
ASSISTED = "Assisted the lead surgeon in 40 operations"
POSTING = Posting(
    title="Registered Nurse - ICU",
    url="https://cedar.example/jobs/7",
    company="Cedar Clinic",
    description="We run an intensive care unit.\n\nRequirements\n- BLS and ACLS\n- Ventilator management on a busy ward\n"
    "\nWhat we offer\n- 30 days of leave",
)


def make_profile(**changes: Any) -> Profile:
    content: dict[str, Any] = {
        "person": {"name": "Maria Santos", "home_city": "Boise, ID"},
        "summary": "Nurse who keeps calm.",
        "skills": ["Excel", "Ventilator management", "Wound care", "BLS", "ACLS"],
        "resume": {
            "headline": "Registered Nurse",
            "contact": {"email": "maria@example.net", "phone": "(208) 555-0142"},
            "experience": [
                {
                    "title": "Registered Nurse",
                    "employer": "Alder Valley Hospital",
                    "start": "2024-03",
                    "end": "present",
                    "highlights": ["Organised the summer party", TRAINED, ASSISTED],
                },
                {
                    "title": "Nursing Assistant",
                    "employer": "St. Luke's",
                    "start": "2022",
                    "end": "2024-02",
                    "highlights": ["Washed 20 patients a day"],
                },
            ],
            "education": [
                {"institution": "Boise State", "degree": "BSc", "field": "Nursing", "end": "2021"}
            ],
            "licences": [
                {"name": "Registered Nurse License", "number": "N-48213", "expires": "2027-05"}
            ],
            "languages": [{"name": "English", "level": "native"}],
        },
    }
    return Profile.model_validate(content | changes)


def make_resume(profile: Profile | None = None, posting: Posting = POSTING) -> ApplicationDocument:
    return drafting.draft_fitting_resume(profile or make_profile(), 1, posting, TODAY)
