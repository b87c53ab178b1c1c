"""Read the spoken languages that a resume lists. Programming languages are skills."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

LANGUAGES: Final = frozenset(
    (
        "Afrikaans", "Albanian", "American Sign Language", "Amharic", "Arabic", "Armenian", "Bengali",
        "Bosnian", "Bulgarian", "Burmese", "Cantonese", "Catalan", "Chinese", "Croatian", "Czech", "Danish",
        "Dutch", "English", "Estonian", "Farsi", "Filipino", "Finnish", "French", "Georgian", "German",
        "Greek", "Gujarati", "Haitian Creole", "Hausa", "Hebrew", "Hindi", "Hmong", "Hungarian", "Icelandic",
        "Igbo", "Indonesian", "Irish", "Italian", "Japanese", "Kannada", "Khmer", "Korean", "Kurdish", "Lao",
        "Latvian", "Lithuanian", "Macedonian", "Malay", "Malayalam", "Mandarin", "Marathi", "Mongolian",
        "Nepali", "Norwegian", "Oromo", "Pashto", "Persian", "Polish", "Portuguese", "Punjabi", "Romanian",
        "Russian", "Serbian", "Sign Language", "Slovak", "Slovenian", "Somali", "Spanish", "Swahili",
        "Swedish", "Tagalog", "Tamil", "Telugu", "Thai", "Tigrinya", "Turkish", "Ukrainian", "Urdu",
        "Vietnamese", "Welsh", "Yoruba", "Zulu",
        "Deutsch", "Englisch", "Französisch", "Italienisch", "Spanisch", "Türkisch", "Russisch",
        "Allemand", "Anglais", "Arabe", "Espagnol", "Français", "Italien", "Portugais",
        "Alemán", "Español", "Francés", "Inglés", "Italiano", "Portugués",
    )
)  # fmt: skip
_BY_KEY: Final = {name.casefold(): name for name in LANGUAGES}
_NAMES: Final = re.compile(
    r"\b(?:" + "|".join(map(re.escape, sorted(LANGUAGES, key=len, reverse=True))) + r")\b",
    re.IGNORECASE,
)
MAX_LENGTH: Final = 10_000


def find_languages(lines: Iterable[str]) -> list[str]:
    """The languages that the lines name, without how well they are spoken."""
    text = "\n".join(lines)[:MAX_LENGTH]
    return list(dict.fromkeys(_BY_KEY[hit.group().casefold()] for hit in _NAMES.finditer(text)))
