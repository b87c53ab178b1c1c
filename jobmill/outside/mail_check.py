"""A test letter: shows whether the mail server takes letters with the current settings."""

from __future__ import annotations

from email.utils import make_msgid

from jobmill.outside.mail import Letter, Mailer
from jobmill.settings import Settings, public_base_url

SUBJECT = "Test letter"


async def send_test_letter(settings: Settings, address: str) -> None:
    """Send a letter to this address; raises Unavailable without a mail server, and as `Mailer.send`."""
    mailer = Mailer(settings)
    body = (
        "This is a test. Letters to your applicants are sent in the same way.\n\n"
        f"Links in them start with {public_base_url(settings)}\n"
    )
    id = make_msgid("test", domain=mailer.domain).strip("<>")
    await mailer.send(Letter("", address.strip(), SUBJECT, body, id))
