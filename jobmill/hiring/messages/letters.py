"""What letters to applicants say: files of ours, or of the company, with names to be filled in."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import logging
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from jobmill.errors import Invalid
from jobmill.hiring.messages.notices import OutgoingLetter
from jobmill.hiring.messages.signed_links import LinkSigner

log = logging.getLogger(__name__)

BUILT_IN_TEMPLATES = Path(__file__).parent / "templates"
SUBJECT = "Subject:"
MAX_NAME_LENGTH = 80
# Whoever types somebody else's address must not have us send their advertisement there.
LOOKS_LIKE_A_LINK = re.compile(r"://|www\.|@", re.IGNORECASE)

_ALWAYS = frozenset({"name", "title", "my_link"})
_OFFER = frozenset({"accept_link", "decline_link", "deadline", "left", "minutes"})
TEMPLATE_NAMES: Mapping[str, frozenset[str]] = {
    "applied": _ALWAYS,
    "waitlisted": _ALWAYS | {"position"},
    "promoted": _ALWAYS | _OFFER,
    "reminder": _ALWAYS | _OFFER,
    "decayed": _ALWAYS | {"position", "missed"},
    "lapsed": _ALWAYS | {"missed"},
    "withdrawn": _ALWAYS,
    "removed": _ALWAYS,
    "position": _ALWAYS | {"position"},
    "message": _ALWAYS | {"text"},
}
"""The letters there are, and what each may name."""


@dataclass(frozen=True, slots=True)
class LetterText:
    subject: str
    body: str


def check_templates(folder: Path | None) -> None:
    """Invalid, with all that is wrong, where letters of the company cannot be used."""
    if folder is None:
        return
    if not folder.is_dir():
        raise Invalid(f"letters_dir names {folder}, which is not a folder")
    faults: list[str] = []
    for file in sorted(folder.glob("*.txt")):
        try:
            _read(file)
        except Invalid as error:
            faults.append(str(error))
    if faults:
        raise Invalid("; ".join(faults))


def render_letter(letter: str, values: Mapping[str, str], folder: Path | None) -> LetterText:
    """The letter, filled in: the company's, or ours where it has none or theirs cannot be used."""
    own = folder / f"{letter}.txt" if folder else None
    if own and own.exists():
        try:
            return _fill(_read(own), values)
        except Invalid as error:
            # Who was to be told is told all the same.
            log.warning("letter not usable, ours is sent", extra={"error": str(error)})
    return _fill(_read(BUILT_IN_TEMPLATES / f"{letter}.txt"), values)


def choose_template(told: OutgoingLetter) -> str:
    """Which letter tells it."""
    return "waitlisted" if told.kind == "applied" and "position" in told.data else told.kind


def template_values(told: OutgoingLetter, signer: LinkSigner, base: str) -> dict[str, str]:
    """All that a letter may name; `base` is what links begin with."""
    personal = signer.personal(told.applicant_id, told.link_version, told.at)
    named = {
        "name": _name(told.name),
        "title": told.title,
        "my_link": f"{base}/my/{personal}",
        **{name: str(told.data.get(name, "-")) for name in ("position", "missed", "text")},
    }
    if told.deadline:
        link = f"{base}/offer/{signer.offer(told.application_id, told.deadline)}"
        minutes = max(math.ceil((told.deadline - told.at) / dt.timedelta(minutes=1)), 0)
        named |= {
            # Nothing is answered by following a link: it opens a page that asks.
            "accept_link": f"{link}?answer=accept",
            "decline_link": f"{link}?answer=decline",
            "deadline": f"{told.deadline.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC",
            "left": _span(minutes),
            "minutes": str(minutes),
        }
    return named


def message_id(told: OutgoingLetter, secret: bytes, domain: str) -> str:
    """The same for the same notice, and for no other: neither here nor in another installation."""
    seed = f"notice {told.id} {told.created_at.astimezone(dt.UTC).isoformat()}"
    mark = hmac.new(secret, seed.encode(), hashlib.sha256).hexdigest()[:24]
    return f"notice.{told.id}.{mark}@{domain}"


def _read(file: Path) -> tuple[Template, Template]:
    known = TEMPLATE_NAMES.get(file.stem)
    if known is None:
        raise Invalid(f"{file} is no letter of ours; there are: {', '.join(TEMPLATE_NAMES)}")
    try:
        first, _, rest = file.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{file} cannot be read: {error}") from error
    if not first.startswith(SUBJECT) or not first.removeprefix(SUBJECT).strip():
        raise Invalid(f"{file}:1 should be `{SUBJECT}` and the subject")
    subject, body = Template(first.removeprefix(SUBJECT).strip()), Template(rest.strip() + "\n")
    for part in (subject, body):
        _check_names(file, part, known)
    return subject, body


def _check_names(file: Path, part: Template, known: frozenset[str]) -> None:
    if not part.is_valid():
        raise Invalid(f"{file} has a $ that begins no name; write $$ for the sign itself")
    unknown = [name for name in part.get_identifiers() if name not in known]
    if unknown:
        names = ", ".join(f"${name}" for name in sorted(known))
        raise Invalid(f"{file} names ${unknown[0]}, which this letter does not know: {names}")


def _fill(parts: tuple[Template, Template], values: Mapping[str, str]) -> LetterText:
    subject, body = parts
    return LetterText(subject.safe_substitute(values), body.safe_substitute(values))


def _span(minutes: int) -> str:
    """In a unit that fits, and never more than there is."""
    units = (("day", 1440), ("hour", 60), ("minute", 1))
    unit, length = next(((unit, n) for unit, n in units if minutes >= 2 * n), ("minute", 1))
    number = minutes // length
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _name(text: str) -> str:
    name = " ".join(text.split())[:MAX_NAME_LENGTH]
    return "applicant" if LOOKS_LIKE_A_LINK.search(name) else name
