"""The fictional job seekers of the demo: an engineer, and people of other professions."""

from __future__ import annotations

from collections.abc import Sequence

from jobmill.matching.profile import Profile

NAME = "demo"
"""The default profile."""
ENGINEER = Profile.model_validate(
    {
        "person": {
            "name": "Robin Vale (demo)",
            "home_city": "Portland, OR",
            "timezone": "America/Los_Angeles",
        },
        "summary": "Backend engineer who builds calm services in Python on PostgreSQL.",
        "experience_years": 9,
        "skills": [
            {"name": "Python", "rank": "primary", "years": 9},
            {"name": "PostgreSQL", "rank": "primary", "years": 8},
            {"name": "Docker", "rank": "strong", "years": 6},
            {"name": "Kubernetes", "rank": "strong", "years": 4},
            {"name": "AWS", "rank": "strong", "years": 5},
            {"name": "REST APIs", "rank": "strong"},
            {"name": "Django", "rank": "familiar"},
            {"name": "Redis", "rank": "familiar"},
            {"name": "SQL", "rank": "familiar"},
        ],
        "titles": ["Senior Backend Engineer", "Backend Engineer", "Platform Engineer"],
        "seniority": ["senior", "staff"],
        "role_types": ["ic"],
        "locations": ["Seattle, WA"],
        "arrangements": ["remote", "hybrid"],
        "company_size": "medium",
        "salary_floor": {"amount": 140_000, "currency": "USD", "period": "year"},
        "stop_lists": {
            "companies": ["Gilded Hook Gaming"],
            "keywords": ["crypto", "clearance"],
        },
        "highlights": ["Moved a billing service to PostgreSQL without a minute of downtime"],
        "projects": ["slowloom: a small library for long queries"],
        "resume": {
            "headline": "Senior Backend Engineer",
            "contact": {
                "email": "robin.vale@example.net",
                "phone": "+1 503 555 0142",
                "links": [{"label": "GitHub", "url": "https://github.example/robinvale"}],
            },
            "work_authorisation": ["US citizen"],
            "experience": [
                {
                    "title": "Senior Backend Engineer",
                    "employer": "Harborlight Billing",
                    "location": "Portland, OR",
                    "start": "2021-03",
                    "end": "present",
                    "summary": "Invoicing for 1,800 small businesses.",
                    "highlights": [
                        "Moved a billing service to PostgreSQL without a minute of downtime",
                        "Cut the nightly invoice run from 5 hours to 35 minutes",
                        "Introduced on-call reviews; pages fell from 14 to 3 a week",
                        "Mentored three engineers, two of whom now lead teams",
                    ],
                    "skills": ["Python", "PostgreSQL", "Kubernetes", "AWS"],
                },
                {
                    "title": "Backend Engineer",
                    "employer": "Trailmark Outdoor",
                    "location": "Seattle, WA",
                    "start": "2018-06",
                    "end": "2021-02",
                    "highlights": [
                        "Built the REST API behind the booking app, used by 240 shops",
                        "Replaced a hand-run deployment with Docker and a pipeline of 9 minutes",
                        "Wrote the load tests that found the limit before the summer season",
                    ],
                    "skills": ["Python", "Django", "Docker", "Redis"],
                },
                {
                    "title": "Junior Developer",
                    "employer": "Cedar County Library",
                    "location": "Eugene, OR",
                    "start": "2016-09",
                    "end": "2018-05",
                    "highlights": [
                        "Automated the import of 300,000 catalog records",
                        "Answered the questions of 40 librarians and wrote their handbook",
                    ],
                    "skills": ["Python", "SQL"],
                },
            ],
            "projects": [
                {
                    "name": "slowloom",
                    "summary": "A small library for long queries.",
                    "highlights": ["Used by two companies that are not mine"],
                    "skills": ["Python", "PostgreSQL"],
                }
            ],
            "education": [
                {
                    "institution": "University of Oregon",
                    "degree": "BSc",
                    "field": "Computer Science",
                    "start": "2012",
                    "end": "2016",
                }
            ],
            "licences": [
                {
                    "name": "Certified Kubernetes Administrator",
                    "issuer": "CNCF",
                    "issued": "2023-05",
                }
            ],
            "languages": [
                {"name": "English", "level": "native"},
                {"name": "Spanish", "level": "B1"},
            ],
        },
    }
)


def _job_seeker(
    name: str,
    home: tuple[str, str],
    years: float,
    titles: Sequence[str],
    skills: Sequence[str],
    least_pay: int,
) -> Profile:
    city, timezone = home
    return Profile.model_validate(
        {
            "person": {"name": f"{name} (demo)", "home_city": city, "timezone": timezone},
            "experience_years": years,
            "skills": [{"name": skill, "rank": "strong"} for skill in skills],
            "titles": titles,
            "arrangements": ["onsite", "hybrid"],
            "salary_floor": {"amount": least_pay, "currency": "USD", "period": "year"},
        }
    )


PROFILES = {
    NAME: ENGINEER,
    "demo-nurse": _job_seeker(
        "Noor Haddad",
        ("Boston, MA", "America/New_York"),
        6,
        ["Registered Nurse"],
        ["RN license", "BLS", "ACLS", "IV therapy", "Patient assessment", "Wound care"],
        80_000,
    ),
    "demo-warehouse": _job_seeker(
        "Sam Kowalski",
        ("Chicago, IL", "America/Chicago"),
        3,
        ["Warehouse Associate", "Warehouse Worker"],
        ["Forklift license", "Order picking", "Inventory counts", "RF scanner"],
        40_000,
    ),
    "demo-teacher": _job_seeker(
        "Ada Okoro",
        ("Portland, OR", "America/Los_Angeles"),
        5,
        ["Adult Education Teacher", "Teacher"],
        ["Teaching license", "Lesson planning", "Classroom management", "ESL"],
        56_000,
    ),
    "demo-chef": _job_seeker(
        "Luca Moretti",
        ("Minneapolis, MN", "America/Chicago"),
        8,
        ["Sous Chef", "Chef"],
        ["Menu planning", "Food costing", "ServSafe", "Sauces", "Pastry"],
        60_000,
    ),
    "demo-lawyer": _job_seeker(
        "Helen Park",
        ("Hartford, CT", "America/New_York"),
        7,
        ["Attorney", "Associate Attorney"],
        ["Bar admission", "Litigation", "Contract negotiation", "Legal research"],
        130_000,
    ),
}
