"""Letters to applicants, from built-in templates or from templates of the company."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import logging
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from string import Template

from jobmill.errors import Invalid
from jobmill.hiring.messages.letter_variables import VARIABLES, LetterText, check_variables
from jobmill.hiring.messages.notices import OutgoingLetter
from jobmill.hiring.messages.signed_links import ConfirmationToken, LinkSigner
from jobmill.time_zones import format_local_time

log = logging.getLogger(__name__)

BUILT_IN_TEMPLATES = Path(__file__).parent / "templates"
SUBJECT = "Subject:"
MAX_NAME_LENGTH = 80
BLANK_LINES = re.compile(r"\n{3,}")
# Anyone can enter a foreign address with an advertisement as the name: do not mail it.
LINK_PATTERN = re.compile(r"://|www\.|@", re.IGNORECASE)

SAMPLE_TIME = dt.datetime(2030, 1, 7, 9, 0, tzinfo=dt.UTC)
SAMPLE_TOKEN = re.compile(r"(?<=/)[\w.-]{20,}")

NO_NAME = "applicant"
"""The name in letters to unconfirmed addresses, where a stranger may have entered the name."""
NO_APPLICATION_UNLESS_CONFIRMED = (
    "If this was not you, ignore this email. Without your confirmation there is no application."
)
ENDS_UNLESS_CONFIRMED = (
    "If this was not you, open the link and choose “This was not me”. "
    "Without your confirmation the application ends at that time."
)
"""For an application that exists before its address is confirmed."""


def check_templates(folder: Path | None) -> None:
    """Raise Invalid with all problems of the company's templates."""
    if folder is None:
        return
    if not folder.is_dir():
        raise Invalid(
            f"letters_dir is {folder}, which is not a folder. Create it, or correct the setting."
        )
    faults: list[str] = []
    for file in sorted([*folder.glob("*.txt"), *folder.glob("*/*.txt")]):
        try:
            _read(file)
        except Invalid as error:
            faults.append(str(error))
    if faults:
        raise Invalid("; ".join(faults))


def render_letter(
    letter: str,
    values: Mapping[str, str],
    folder: Path | None,
    saved: LetterText | None = None,
    language: str = "en",
) -> LetterText:
    """Fill in the text that the company saved, or else the default."""
    return fill_text(saved or read_default(letter, folder, language), values)


def read_default(letter: str, folder: Path | None, language: str = "en") -> LetterText:
    """The company's file, or the built-in one if it is missing or invalid."""
    custom = _find_custom(folder, letter, language) if folder else None
    if custom:
        try:
            return _read(custom)
        except Invalid as error:
            # The applicant must get the letter all the same.
            log.warning(
                "letter template not usable, sending the built-in one", extra={"error": str(error)}
            )
    return _read(BUILT_IN_TEMPLATES / f"{letter}.txt")


def _find_custom(folder: Path, letter: str, language: str) -> Path | None:
    """The company's template in this language, or else for all languages; None if it has none."""
    files = (folder / language / f"{letter}.txt", folder / f"{letter}.txt")
    return next((file for file in files if file.exists()), None)


def choose_template(letter: OutgoingLetter) -> str:
    """The template for a letter."""
    return "waitlisted" if letter.kind == "applied" and "position" in letter.data else letter.kind


def template_values(letter: OutgoingLetter, signer: LinkSigner, base: str) -> dict[str, str]:
    """Values of all placeholders; `base` is the URL that links start with."""
    name = _safe_name(letter.name)
    values = {
        "name": name or NO_NAME,
        "greeting": f"Hello {name}," if name else "Hello,",
        "title": _title(letter),
        "company": letter.company or "the company",
        "my_link": f"{base}/my{_personal_token(letter, signer)}",
        **{name: str(letter.data.get(name, "-")) for name in ("position", "missed")},
        "text": str(letter.data.get("text", "")),
        "starts": _local_time(letter, letter.starts_at),
        "place": letter.place or "",
        "missed_at": _local_time(letter, letter.ended_offer),
        "warning": _warning(letter.data.get("remaining")),
    }
    if letter.kind == "confirm":
        token = signer.sign_confirmation(_confirmation_token(letter))
        until = _local_time(letter, letter.confirm_by)
        return values | {
            "confirm_link": f"{base}/confirm/{token}",
            "deadline": until,
            "otherwise": NO_APPLICATION_UNLESS_CONFIRMED
            if letter.apply_request_id
            else ENDS_UNLESS_CONFIRMED,
        }
    if letter.deadline and letter.application_id:
        link = f"{base}/offer/{signer.sign_offer(letter.application_id, letter.deadline)}"
        minutes = max(math.ceil((letter.deadline - letter.at) / dt.timedelta(minutes=1)), 0)
        values |= {
            # Following a link answers nothing: it opens a page that asks.
            "accept_link": f"{link}?answer=accept",
            "decline_link": f"{link}?answer=decline",
            "deadline": _local_time(letter, letter.deadline),
            "left": _format_duration(minutes),
            "minutes": str(minutes),
        }
    return values


def _title(letter: OutgoingLetter) -> str:
    """What the letter is about; letters that all openings share name the interview."""
    if letter.starts_at is None or letter.kind.startswith("interview"):
        return letter.title
    return f"{letter.title}, interview at {_local_time(letter, letter.starts_at)}"


def _local_time(letter: OutgoingLetter, at: dt.datetime | None) -> str:
    return format_local_time(at, letter.time_zone) if at else "-"


def _warning(remaining: object) -> str:
    """What happens after the next missed offers."""
    if not isinstance(remaining, int):
        return ""
    if remaining == 1:
        return "One more missed offer ends your application."
    return f"{remaining} more missed offers end your application."


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
    return f"notice.{letter.id}.{make_unique_part(secret, notice)}@{domain}"


def make_unique_part(secret: bytes, subject: str) -> str:
    """A part of an identifier that no other installation makes for the same subject."""
    return hmac.new(secret, subject.encode(), hashlib.sha256).hexdigest()[:24]


def _read(file: Path) -> LetterText:
    if file.stem not in VARIABLES:
        raise Invalid(f"{file} is not an email template. Templates are: {', '.join(VARIABLES)}")
    try:
        content = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{file} cannot be read: {error}") from error
    text = parse_letter(content, f"{file}:1")
    check_variables(str(file), text, file.stem)
    return text


def parse_letter(content: str, first_line: str = "The first line") -> LetterText:
    """A letter from a file: its subject in the first line, then its text."""
    first, _, rest = content.partition("\n")
    if not first.startswith(SUBJECT) or not first.removeprefix(SUBJECT).strip():
        raise Invalid(f"{first_line} should be `{SUBJECT}` followed by the subject")
    return LetterText(first.removeprefix(SUBJECT).strip(), rest.strip() + "\n")


def fill_text(text: LetterText, values: Mapping[str, str]) -> LetterText:
    """Replace the placeholders by plain text; nothing in a template or a value is run.

    A placeholder without a value leaves one blank line, not three.
    """
    body = Template(text.body).safe_substitute(values)
    return LetterText(Template(text.subject).safe_substitute(values), BLANK_LINES.sub("\n\n", body))


def sample_values(letter: str, base: str, *, title: str, company: str | None) -> dict[str, str]:
    """Values of all placeholders for a preview; the links in it open nothing."""
    kind = "confirm" if letter == "confirm" else "promoted"
    sample = OutgoingLetter(
        id=0,
        kind=kind,
        data={
            "position": 4,
            "missed": 1,
            "remaining": 2,
            "endedOffer": SAMPLE_TIME.isoformat(),
            "text": "We need another week.",
        },
        state="waiting",
        created_at=SAMPLE_TIME,
        title=title,
        application_id=1,
        status="PENDING_ACKNOWLEDGMENT",
        deadline=SAMPLE_TIME + dt.timedelta(hours=2),
        applicant_id=1,
        name="Ada Okafor",
        email="",
        link_version=1,
        erased=False,
        superseded=False,
        at=SAMPLE_TIME,
        confirm_by=SAMPLE_TIME + dt.timedelta(days=1),
        company=company,
    )
    if letter.startswith("interview"):
        end = SAMPLE_TIME + dt.timedelta(minutes=30)
        sample = replace(
            sample, kind="interview_booked", starts_at=SAMPLE_TIME, ends_at=end, place="Room 4"
        )
    values = template_values(sample, LinkSigner(bytes(32)), base)
    return {name: _shorten_link(value) for name, value in values.items()}


def _shorten_link(value: str) -> str:
    """A link of a preview without its token, which opens no page."""
    return SAMPLE_TOKEN.sub("example", value)


def _format_duration(minutes: int) -> str:
    """A duration in its largest suitable unit, rounded down."""
    units = (("day", 1440), ("hour", 60), ("minute", 1))
    unit, length = next(((unit, n) for unit, n in units if minutes >= 2 * n), ("minute", 1))
    number = minutes // length
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _safe_name(text: str | None) -> str:
    """The name in a letter; empty if it may be an advertisement."""
    name = " ".join((text or "").split())[:MAX_NAME_LENGTH]
    return "" if LINK_PATTERN.search(name) else name
