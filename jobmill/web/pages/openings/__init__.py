"""/hiring: the company's own openings, their forms, and who cannot apply."""

from __future__ import annotations

from jobmill.web.pages.openings import (
    blocklist_page,
    close_page,
    form_editor,
    import_pages,
    opening_changes,
    opening_list,
)

# `/hiring/new` and other fixed paths before `/hiring/{opening_id}`: the first matching route wins.
routers = [
    page.router
    for page in (
        opening_list,
        blocklist_page,
        import_pages,
        close_page,
        opening_changes,
        form_editor,
    )
]
