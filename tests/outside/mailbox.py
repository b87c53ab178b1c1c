"""A mail server on loopback that stores letters, and rejects those that a test selects."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from ssl import SSLContext
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from jobmill.settings import Settings

PASSWORD = "s3cret/@:"


def text_of(letter: EmailMessage) -> str:
    """The plain text of a letter, which may also have HTML."""
    body = letter.get_body(("plain",))
    assert body
    return str(body.get_content())


@dataclass
class Mailbox:
    port: int = 0
    letters: list[EmailMessage] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    """Responses to the next letters, each used once, instead of accepting them."""
    logins: list[bytes] = field(default_factory=list)

    scheme: str = "smtp"

    def settings(self, user: str = "", **more: Any) -> Settings:
        url = f"{self.scheme}://{user}127.0.0.1:{self.port}"
        values = {"smtp_url": url, "mail_from": "Wells <hiring@wells.example>", **more}
        return Settings.model_validate(values)

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.refusals:
            return self.refusals.pop(0).format(address=address)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        message = message_from_bytes(envelope.content, policy=policy.default)
        self.letters.append(message)  # pyright: ignore[reportArgumentType]
        self.recipients.append(envelope.rcpt_tos)
        return "250 OK"

    def check_login(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.logins.append(data.login)
        right = data.password == PASSWORD.encode()
        return AuthResult(success=right, handled=right)


@asynccontextmanager
async def open_mailbox(
    kind: type[Mailbox] = Mailbox, *, login: bool = False, tls: SSLContext | None = None
) -> AsyncIterator[Mailbox]:
    mailbox = kind(scheme="smtps" if tls else "smtp")

    def serve() -> SMTP:
        with warnings.catch_warnings():
            # The library warns of passwords without TLS, which loopback does not use.
            warnings.simplefilter("ignore")
            return SMTP(
                mailbox,
                hostname="mail.test",
                enable_SMTPUTF8=True,
                auth_required=login,
                auth_require_tls=False,
                authenticator=mailbox.check_login,
            )

    server = await asyncio.get_running_loop().create_server(serve, "127.0.0.1", 0, ssl=tls)
    mailbox.port = server.sockets[0].getsockname()[1]
    try:
        yield mailbox
    finally:
        server.close()
        await server.wait_closed()
