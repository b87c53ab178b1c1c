"""Text as it is compared and shown: one form for each letter, one line, no invisible characters."""

from __future__ import annotations

import html
import re
import unicodedata
from importlib import resources
from pathlib import PurePosixPath

# Characters without width, and halves of surrogate pairs, which no encoding can write.
_INVISIBLE = re.compile("[\x00-\x08\x0e-\x1b\x7f\xad\u200b\u200e\u200f\u2060\ufeff\ud800-\udfff]")


MAX_FILE_NAME_LENGTH = 120


def fold_case(text: str) -> str:
    """Lower case in one Unicode form. The two Turkish letters that a change of case turns into "i"
    become an "i"."""
    small = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", small.replace("i\u0307", "i").replace("\u0131", "i"))


def remove_invisible(text: str) -> str:
    return _INVISIBLE.sub("", text)


def single_line(text: object) -> str | None:
    """One line with HTML entities resolved; None for an empty line and for anything but a string."""
    if not isinstance(text, str):
        return None
    return " ".join(remove_invisible(html.unescape(text) if "&" in text else text).split()) or None


def clean_file_name(name: str) -> str:
    """The last part of a path, without characters that do not belong in a file name."""
    last = name.replace("\\", "/").rpartition("/")[2]
    cleaned = "".join(char for char in last if char.isprintable() and char not in '<>:"|?*')
    stem, suffix = PurePosixPath(cleaned).stem, PurePosixPath(cleaned).suffix
    return f"{stem.strip('. ')[: MAX_FILE_NAME_LENGTH - 10] or 'file'}{suffix[:10]}"


def read_phrase_list(package: str, name: str) -> frozenset[str]:
    """The lines of a data file of a package. A line that begins with # is a comment."""
    return frozenset(_read_lines(package, name))


def read_word_list(package: str, name: str) -> frozenset[str]:
    """The words of a data file, of which a line may have several."""
    return frozenset(word for line in _read_lines(package, name) for word in line.split())


def read_word_groups(package: str, name: str) -> dict[str, str]:
    """Each word of a data file with its group, which begins the line: `group: word word`."""
    groups = (line.partition(": ") for line in _read_lines(package, name))
    return {word: group for group, _, words in groups for word in words.split()}


def _read_lines(package: str, name: str) -> list[str]:
    lines = (resources.files(package) / name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
