"""Collects the texts of the pages in jobmill/web/locale/jobmill.pot for translators."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import write_po

WEB = Path(__file__).parent.parent / "jobmill" / "web"
FILE = WEB / "locale" / "jobmill.pot"
HEAD = (
    "# What Jobmill's pages say. Made by `make fmt`; docs/how-to/translate.md tells how to use it."
)
METHODS = [("templates/**.html", "jinja2"), ("**.py", "python")]
OPTIONS = {"templates/**.html": {"newstyle_gettext": "true", "trimmed": "true", "silent": "false"}}
KEYWORDS = {
    "_": None, "gettext": None, "ngettext": (1, 2), "say": None, "say_many": (1, 2),
}  # fmt: skip


def gather() -> str:
    """The catalog without volatile fields, so that it changes only if a text does."""
    catalog = Catalog(header_comment=HEAD)
    messages = extract_from_dir(WEB, METHODS, OPTIONS, KEYWORDS)
    for file, _, message, _, context in sorted(messages, key=lambda entry: (entry[0], entry[1])):
        catalog.add(message, locations=[(file, None)], context=context)  # pyright: ignore[reportArgumentType]
    made = BytesIO()
    write_po(made, catalog, width=100, include_lineno=False, omit_header=True)
    return f'{HEAD}\nmsgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n{made.getvalue().decode()}'


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(gather())
