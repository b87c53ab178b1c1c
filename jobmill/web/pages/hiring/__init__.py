"""/hiring: the company's openings, their applicants and activity."""

from __future__ import annotations

from jobmill.web.pages.hiring import (
    activity,
    applicant_list,
    applicants,
    blocklist_page,
    close_page,
    company_page,
    erase_page,
    form_editor,
    import_pages,
    interviews,
    letter_pages,
    mail_setup,
    message_list,
    opening_changes,
    opening_list,
    review_page,
    reviews,
    stage_pages,
    verification_page,
    webhook_pages,
)

# `/hiring/new` and the lists before `/hiring/{opening_id}`, and the parts of a review before the actions on
# an applicant: the first matching route wins.
routers = [
    page.router
    for page in (
        opening_list,
        applicant_list,
        message_list,
        mail_setup,
        company_page,
        letter_pages,
        blocklist_page,
        webhook_pages,
        verification_page,
        import_pages,
        close_page,
        erase_page,
        opening_changes,
        form_editor,
        activity,
        review_page,
        stage_pages,
        reviews,
        interviews,
        applicants,
    )
]
