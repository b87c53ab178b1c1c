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
from jobmill.web.form import WHOLE_NUMBER, LongForm, last_value
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
    direction, _, key = last_value(form, "move").partition(" ")
    if direction in ("up", "down"):
        document = move_part(document, key, direction)
    return document


def _read_layout(form: LongForm) -> dict[str, str]:
    layout: dict[str, str] = {}
    if (template := last_value(form, "template")) in TEMPLATES:
        layout["template"] = template
    if (paper := last_value(form, "paper")) in PAPERS:
        layout["paper"] = paper
    return layout


def read_version(form: LongForm) -> int:
    """The version that the page showed."""
    typed = last_value(form, "version")
    if not WHOLE_NUMBER.fullmatch(typed):
        raise Invalid(say("Reload the page."))
    return int(typed)
