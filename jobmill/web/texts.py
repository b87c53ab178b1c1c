"""What the pages say: English stands in the code, each other language in a folder of locale/.

`{{ _("Matches") }}` and `{% trans %}` in a template, `say("Matches")` and
`say_many("%(n)s item", "%(n)s items", n)` in Python. All of them are gathered in locale/jobmill.pot,
where translators begin.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from gettext import NullTranslations
from pathlib import Path
from typing import cast

from jinja2 import Environment

LOCALE = Path(__file__).parent / "locale"
DOMAIN = "jobmill"
OWN = "en"
ASKED = re.compile(r"\s*([A-Za-z]{2,8})[^,;]*(?:;\s*q=([0-9.]+))?")


@dataclass(frozen=True, slots=True)
class Language:
    name: str = OWN
    words: NullTranslations = field(default_factory=NullTranslations)


ENGLISH = Language()
_spoken: ContextVar[Language] = ContextVar("language", default=ENGLISH)


def languages(locale: Path = LOCALE) -> dict[str, Language]:
    """Those that somebody has translated us into, and our own."""
    found = sorted(file.parts[-3] for file in locale.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))
    others = {name: Language(name, gettext.translation(DOMAIN, locale, [name])) for name in found}
    return {OWN: ENGLISH, **others}


def choose(known: Mapping[str, Language], asked: str) -> Language:
    """The one that a browser likes best (Accept-Language) of those that we have."""
    wishes = [found for part in asked.split(",") if (found := ASKED.match(part))]
    for wish in sorted(wishes, key=_weight, reverse=True):
        if language := known.get(wish[1].lower()):
            return language
    return known[OWN]


def _weight(wish: re.Match[str]) -> float:
    try:
        return float(wish[2] or 1)
    except ValueError:
        return 0


@contextmanager
def spoken(language: Language) -> Generator[None]:
    """What is said in here is said in this language."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


def say(text: str, **values: object) -> str:
    """A text of ours, with its %(names)s filled in."""
    return _put(_spoken.get().words.gettext(text), values)


def say_many(one: str, many: str, n: int, **values: object) -> str:
    """The same for so many of something; %(n)s is the number as people read it."""
    return _put(_spoken.get().words.ngettext(one, many, n), {"n": f"{n:,}", **values})


def _put(text: str, values: Mapping[str, object]) -> str:
    return text % values if values else text


def teach(templates: Environment) -> None:
    """Let templates speak, too."""
    templates.add_extension("jinja2.ext.i18n")
    templates.policies["ext.i18n.trimmed"] = True
    install = templates.install_gettext_callables  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    install(
        gettext=lambda text: _spoken.get().words.gettext(text),  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
        ngettext=lambda one, many, n: _spoken.get().words.ngettext(one, many, n),  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
        newstyle=True,
    )
    cast(dict[str, object], templates.globals)["language"] = lambda: _spoken.get().name
