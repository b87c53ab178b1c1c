"""The fictional job seeker of the demo."""

from __future__ import annotations

from jobmill.matching.profile import Profile

NAME = "demo"
PROFILE = Profile.model_validate(
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
    }
)
