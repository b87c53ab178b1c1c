"""/hiring: applicants, messages, reviews and the audit log of the company's openings."""

from __future__ import annotations

from jobmill.web.pages.hiring import (
    applicant_list,
    applicants,
    audit_log_page,
    company_page,
    erase_page,
    interviews,
    letter_pages,
    mail_setup,
    message_list,
    review_page,
    reviews,
    stage_pages,
    verification_page,
    webhook_pages,
)

# The parts of a review before the actions on an applicant: the first matching route wins.
routers = [
    page.router
    for page in (
        applicant_list,
        message_list,
        mail_setup,
        company_page,
        letter_pages,
        webhook_pages,
        verification_page,
        erase_page,
        audit_log_page,
        review_page,
        stage_pages,
        reviews,
        interviews,
        applicants,
    )
]
