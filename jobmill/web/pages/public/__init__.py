"""The public site: openings, applying, and the pages behind the personal links of applicants."""

from __future__ import annotations

from jobmill.web.pages.public import (
    email_confirmation_page,
    embedded_openings,
    fairness_page,
    interview_page,
    my_applications_page,
    offer_page,
    openings_page,
)

# Fixed paths before `/openings/{opening_id}`: the first matching route wins.
routers = [
    page.router
    for page in (
        embedded_openings,
        openings_page,
        fairness_page,
        my_applications_page,
        interview_page,
        offer_page,
        email_confirmation_page,
    )
]
