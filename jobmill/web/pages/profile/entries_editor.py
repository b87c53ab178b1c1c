"""Edit the master resume inside the profile form: the other fields are carried along, unsaved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi.responses import HTMLResponse

from jobmill.web.form import LongForm
from jobmill.web.pages.profile.form import ProfileForm
from jobmill.web.pages.profile.resume_form import (
    PREFIX,
    SECTIONS,
    InvalidResumeForm,
    ResumeForm,
)
from jobmill.web.shell import PageRenderer

OPEN: Final = "entries"
"""The action of the profile form that opens the editor."""
EDITING: Final = "editing"
"""The field that is sent while the editor is open."""
NOT_CARRIED: Final = ("action", "entry", EDITING)


def is_open(fields: LongForm) -> bool:
    return EDITING in fields or fields.get("action", [""])[-1] == OPEN


def submit_entries(
    page: PageRenderer,
    fields: LongForm,
    form: ProfileForm,
    action: str,
    steps: Sequence[object] = (),
) -> ProfileForm | HTMLResponse:
    """The profile form with the edited entries, or the editor again."""
    errors: Mapping[str, str] = {}
    if EDITING not in fields:
        resume_form = ResumeForm.from_resume(form.master_resume)
    else:
        resume_form = ResumeForm.from_fields(fields)
        if "entry" in fields:
            resume_form = resume_form.apply(fields["entry"][-1])
        else:
            try:
                return form.with_resume(resume_form.read_resume())
            except InvalidResumeForm as error:
                errors = error.errors
    carried = [
        (name, value)
        for name, values in fields.items()
        for value in values
        if not name.startswith(PREFIX) and name not in NOT_CARRIED
    ]
    return render_editor(
        page,
        resume_form,
        action=action,
        done="done",
        name=form.name if form.after else "",
        errors=errors,
        carried=[*carried, (EDITING, "yes")],
        steps=steps,
    )


def render_editor(
    page: PageRenderer,
    resume_form: ResumeForm,
    *,
    errors: Mapping[str, str],
    status: int | None = None,
    **values: Any,
) -> HTMLResponse:
    """`action`: where the form is sent; `done`: the action of its main button; `carried`: other
    fields to send along."""
    usual: dict[str, Any] = {
        "steps": (),
        "error": "",
        "notice": "",
        "undo_version": 0,
        "old_version": 0,
    }
    context: dict[str, Any] = (
        usual | {"resume_form": resume_form, "sections": SECTIONS, "errors": errors} | values
    )
    return page("profile/resume.html", status or (422 if errors else 200), **context)
