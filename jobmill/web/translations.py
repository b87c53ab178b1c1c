"""Translations: English texts stand in the code, other languages in locale/.

Templates use `{{ _("Matches") }}` and `{% trans %}`, Python uses `say("Matches")` and
`say_many("%(n)s item", "%(n)s items", n)`. `python -m scripts.texts` collects them in
locale/jobmill.pot, the catalog that translators start from.
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
DEFAULT = "en"
PREFERENCE = re.compile(r"\s*([A-Za-z]{2,8})[^,;]*(?:;\s*q=([0-9.]+))?")


@dataclass(frozen=True, slots=True)
class Language:
    name: str = DEFAULT
    catalog: NullTranslations = field(default_factory=NullTranslations)


ENGLISH = Language()
_current: ContextVar[Language] = ContextVar("language", default=ENGLISH)


def load_languages(locale: Path = LOCALE) -> dict[str, Language]:
    """English and every language with a compiled catalog."""
    names = sorted(file.parts[-3] for file in locale.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))
    others = {name: Language(name, gettext.translation(DOMAIN, locale, [name])) for name in names}
    return {DEFAULT: ENGLISH, **others}


def choose_language(languages: Mapping[str, Language], accept_language: str) -> Language:
    """The available language that the browser prefers most."""
    names = list_preferred(accept_language)
    return next((languages[name] for name in names if name in languages), languages[DEFAULT])


def list_preferred(accept_language: str) -> list[str]:
    """The languages that the browser prefers, the most preferred first, without regions: `de`, `en`."""
    parts = accept_language.split(",")
    preferences = [match for part in parts if (match := PREFERENCE.match(part))]
    ordered = sorted(preferences, key=_weight, reverse=True)
    return [preference[1].lower() for preference in ordered]


def _weight(preference: re.Match[str]) -> float:
    try:
        return float(preference[2] or 1)
    except ValueError:
        return 0


@contextmanager
def using_language(language: Language) -> Generator[None]:
    """Translate into this language inside the `with` block."""
    token = _current.set(language)
    try:
        yield
    finally:
        _current.reset(token)


def say(text: str, **values: object) -> str:
    """The translation of `text`, with its %(names)s filled in."""
    return _fill(_current.get().catalog.gettext(text), values)


def say_many(singular: str, plural: str, n: int, **values: object) -> str:
    """The translation for `n` things; %(n)s becomes the formatted number."""
    text = _current.get().catalog.ngettext(singular, plural, n)
    return _fill(text, {"n": f"{n:,}", **values})


def _fill(text: str, values: Mapping[str, object]) -> str:
    return text % values if values else text


def install(environment: Environment) -> None:
    """Let templates translate with `_()` and `{% trans %}`."""
    environment.add_extension("jinja2.ext.i18n")
    environment.policies["ext.i18n.trimmed"] = True
    install = environment.install_gettext_callables  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    install(
        gettext=lambda text: _current.get().catalog.gettext(text),  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
        ngettext=lambda singular, plural, n: _current.get().catalog.ngettext(singular, plural, n),  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
        newstyle=True,
    )
    cast(dict[str, object], environment.globals)["language"] = lambda: _current.get().name
