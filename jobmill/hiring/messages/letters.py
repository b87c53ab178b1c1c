"""Letters to applicants, from built-in templates or from templates of the company."""

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
from jobmill.hiring.messages.signed_links import ConfirmationToken, LinkSigner

log = logging.getLogger(__name__)

BUILT_IN_TEMPLATES = Path(__file__).parent / "templates"
SUBJECT = "Subject:"
MAX_NAME_LENGTH = 80
# Anyone can enter a foreign address with an advertisement as the name: do not mail it.
LOOKS_LIKE_A_LINK = re.compile(r"://|www\.|@", re.IGNORECASE)

NO_NAME = "applicant"
"""What templates call a person whose name may be a stranger's text."""
_ALWAYS = frozenset({"name", "greeting", "title", "my_link"})
_OFFER = frozenset({"accept_link", "decline_link", "deadline", "left", "minutes"})
PLACEHOLDERS: Mapping[str, frozenset[str]] = {
    "confirm": _ALWAYS | {"confirm_link", "deadline"},
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
"""The letters and the placeholders that each may use."""


@dataclass(frozen=True, slots=True)
class LetterText:
    subject: str
    body: str


def check_templates(folder: Path | None) -> None:
    """Raise Invalid with all problems of the company's templates."""
    if folder is None:
        return
    if not folder.is_dir():
        raise Invalid(f"letters_dir is {folder}, which is not a folder")
    faults: list[str] = []
    for file in sorted(folder.glob("*.txt")):
        try:
            _read(file)
        except Invalid as error:
            faults.append(str(error))
    if faults:
        raise Invalid("; ".join(faults))


def render_letter(letter: str, values: Mapping[str, str], folder: Path | None) -> LetterText:
    """Fill in the company's template, or the built-in one if it is missing or invalid."""
    custom = folder / f"{letter}.txt" if folder else None
    if custom and custom.exists():
        try:
            return _fill(_read(custom), values)
        except Invalid as error:
            # The applicant must get the letter all the same.
            log.warning(
                "letter template not usable, sending the built-in one", extra={"error": str(error)}
            )
    return _fill(_read(BUILT_IN_TEMPLATES / f"{letter}.txt"), values)


def choose_template(letter: OutgoingLetter) -> str:
    """The template for a letter."""
    return "waitlisted" if letter.kind == "applied" and "position" in letter.data else letter.kind


def template_values(letter: OutgoingLetter, signer: LinkSigner, base: str) -> dict[str, str]:
    """Values of all placeholders; `base` is the URL that links start with."""
    name = _safe_name(letter.name)
    values = {
        "name": name or NO_NAME,
        "greeting": f"Hello {name}," if name else "Hello,",
        "title": letter.title,
        "my_link": f"{base}/my{_personal_token(letter, signer)}",
        **{name: str(letter.data.get(name, "-")) for name in ("position", "missed", "text")},
    }
    if letter.kind == "confirm":
        token = signer.sign_confirmation(_confirmation_token(letter))
        until = (
            f"{letter.confirm_by.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"
            if letter.confirm_by
            else "-"
        )
        return values | {"confirm_link": f"{base}/confirm/{token}", "deadline": until}
    if letter.deadline and letter.application_id:
        link = f"{base}/offer/{signer.sign_offer(letter.application_id, letter.deadline)}"
        minutes = max(math.ceil((letter.deadline - letter.at) / dt.timedelta(minutes=1)), 0)
        values |= {
            # Following a link answers nothing: it opens a page that asks.
            "accept_link": f"{link}?answer=accept",
            "decline_link": f"{link}?answer=decline",
            "deadline": f"{letter.deadline.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC",
            "left": _format_duration(minutes),
            "minutes": str(minutes),
        }
    return values


def _personal_token(letter: OutgoingLetter, signer: LinkSigner) -> str:
    """The end of the personal link; empty if the person has no page yet."""
    if letter.applicant_id is None or letter.link_version is None:
        return ""
    return f"/{signer.sign_personal(letter.applicant_id, letter.link_version, letter.at)}"


def _confirmation_token(letter: OutgoingLetter) -> ConfirmationToken:
    if letter.apply_request_id is not None:
        return ConfirmationToken("request", letter.apply_request_id)
    return ConfirmationToken("application", letter.application_id or 0)


def message_id(letter: OutgoingLetter, secret: bytes, domain: str) -> str:
    """A Message-ID that is the same for every attempt to send a notice, and unique across installations."""
    notice = f"notice {letter.id} {letter.created_at.astimezone(dt.UTC).isoformat()}"
    mark = hmac.new(secret, notice.encode(), hashlib.sha256).hexdigest()[:24]
    return f"notice.{letter.id}.{mark}@{domain}"


def _read(file: Path) -> tuple[Template, Template]:
    placeholders = PLACEHOLDERS.get(file.stem)
    if placeholders is None:
        raise Invalid(f"{file} is not a letter. Letters are: {', '.join(PLACEHOLDERS)}")
    try:
        first, _, rest = file.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{file} cannot be read: {error}") from error
    if not first.startswith(SUBJECT) or not first.removeprefix(SUBJECT).strip():
        raise Invalid(f"{file}:1 should be `{SUBJECT}` followed by the subject")
    subject, body = Template(first.removeprefix(SUBJECT).strip()), Template(rest.strip() + "\n")
    for part in (subject, body):
        _check_placeholders(file, part, placeholders)
    return subject, body


def _check_placeholders(file: Path, part: Template, placeholders: frozenset[str]) -> None:
    if not part.is_valid():
        raise Invalid(f"{file} has a $ without a placeholder name. Write $$ for a dollar sign.")
    unknown = [name for name in part.get_identifiers() if name not in placeholders]
    if unknown:
        names = ", ".join(f"${name}" for name in sorted(placeholders))
        raise Invalid(f"{file} uses ${unknown[0]}. Placeholders of this letter: {names}")


def _fill(parts: tuple[Template, Template], values: Mapping[str, str]) -> LetterText:
    subject, body = parts
    return LetterText(subject.safe_substitute(values), body.safe_substitute(values))


def _format_duration(minutes: int) -> str:
    """A duration in its largest suitable unit, rounded down."""
    units = (("day", 1440), ("hour", 60), ("minute", 1))
    unit, length = next(((unit, n) for unit, n in units if minutes >= 2 * n), ("minute", 1))
    number = minutes // length
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _safe_name(text: str | None) -> str:
    """The name in a letter; empty if it may be an advertisement."""
    name = " ".join((text or "").split())[:MAX_NAME_LENGTH]
    return "" if LOOKS_LIKE_A_LINK.search(name) else name
