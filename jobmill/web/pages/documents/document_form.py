"""The form of the editor: which lines are printed, their words and order, template and paper."""

from __future__ import annotations

from jobmill.documents.document import (
    PAPERS,
    TEMPLATES,
    ApplicationDocument,
    DocumentLine,
    edit_line,
    map_lines,
    move_part,
)
from jobmill.errors import Invalid
from jobmill.web.form import WHOLE_NUMBER, LongForm
from jobmill.web.translations import say


def apply_form(document: ApplicationDocument, form: LongForm) -> ApplicationDocument:
    """The document with what the form says about its lines. Lines that the form does not show stay."""
    enabled = set(form.get("on", ()))

    def changed(line: DocumentLine) -> DocumentLine:
        texts = form.get(f"text.{line.key}")
        if not texts:
            return line
        edited = edit_line(line, texts[-1])
        return edited.model_copy(update={"enabled": line.key in enabled})

    document = map_lines(document, changed)
    document = document.model_copy(update=_read_layout(form))
    direction, _, key = _last(form, "move").partition(" ")
    if direction in ("up", "down"):
        document = move_part(document, key, direction)
    return document


def _read_layout(form: LongForm) -> dict[str, str]:
    layout: dict[str, str] = {}
    if (template := _last(form, "template")) in TEMPLATES:
        layout["template"] = template
    if (paper := _last(form, "paper")) in PAPERS:
        layout["paper"] = paper
    return layout


def read_version(form: LongForm) -> int:
    """The version that the page showed."""
    typed = _last(form, "version")
    if not WHOLE_NUMBER.fullmatch(typed):
        raise Invalid(say("Reload the page."))
    return int(typed)


def _last(form: LongForm, name: str) -> str:
    return form.get(name, ("",))[-1]
