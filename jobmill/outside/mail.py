"""Sends letters through an SMTP server, one connection per letter."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import formatdate
from functools import cached_property
from ssl import SSLContext, create_default_context
from typing import Literal
from urllib.parse import unquote, urlsplit

import aiosmtplib
from aiosmtplib import (
    SMTPAuthenticationError,
    SMTPNotSupported,
    SMTPRecipientsRefused,
    SMTPResponse,
    SMTPResponseException,
)
from aiosmtplib.typing import Default

from jobmill.errors import AppError, Invalid, OutsideError, ReplyLost, Unavailable
from jobmill.settings import Settings

TIMEOUT_SECONDS = 20.0
"""Timeout of each server response."""
PORTS = {"smtp": 587, "smtps": 465}
SMTP_REFUSALS = 400
"""Replies with this code or a higher one refuse the letter; any other but success says nothing."""
MAX_HEADER_LENGTH = 200
LOCAL = re.compile(r"[^\s@<>()\[\],;:\\\"\x00-\x20\x7f]{1,64}")
DOMAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
NOT_IN_A_HEADER = re.compile(r"[^\S ]+|[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class _LetterPolicy(EmailPolicy):
    """Keeps the links of List-Unsubscribe in one piece; the library would encode a long one, and no
    mail program would find it."""

    def fold_binary(self, name: str, value: str) -> bytes:
        if name == "List-Unsubscribe":
            return f"{name}: {value}{self.linesep}".encode("ascii")
        return super().fold_binary(name, value)


POLICY = _LetterPolicy(linesep="\r\n")


class MailLoginFailed(OutsideError):
    """The mail server rejected our login or cannot be used with these settings; the letter is not
    at fault."""


@dataclass(frozen=True, slots=True)
class Attachment:
    filename: str
    maintype: str
    subtype: str
    content: bytes
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the content type, such as `method` of a calendar file."""


@dataclass(frozen=True, slots=True)
class Letter:
    """An e-mail to one person: plain text, and the same as HTML if it has any."""

    name: str
    address: str
    subject: str
    body: str
    message_id: str
    """Without angle brackets; the same for every attempt to send the letter."""
    html: str | None = None
    attachments: Sequence[Attachment] = ()
    unsubscribe_url: str | None = None
    """Where mail programs unsubscribe with one click (RFC 8058)."""


@dataclass(frozen=True, slots=True)
class MailServer:
    host: str
    port: int
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: bool = False
    """TLS from the first byte (smtps)."""

    @property
    def start_tls(self) -> bool | None:
        """True: required; None: used if the server offers it. Passwords are never sent
        unencrypted, except to loopback."""
        if self.tls or _is_loopback(self.host):
            return False
        return True if self.password else None


def missing_setting(settings: Settings) -> str | None:
    """The setting that is missing to send letters; None if mail is configured."""
    if not settings.smtp_url.get_secret_value():
        return "no mail server is configured: set smtp_url"
    if not settings.mail_from:
        return "no sender is configured: set mail_from"
    return None


def parse_server(url: str) -> MailServer:
    """Parse a URL that the settings have validated."""
    parts = urlsplit(url)
    user, password = parts.username, parts.password
    return MailServer(
        parts.hostname or "",
        parts.port or PORTS[parts.scheme],
        unquote(user) if user is not None else None,
        unquote(password) if password is not None else None,
        tls=parts.scheme == "smtps",
    )


class Mailer:
    """Sends letters at least once: if the worker dies before it records a sent letter, the letter
    is sent again with the same Message-ID."""

    def __init__(self, settings: Settings, *, tls: SSLContext | None = None) -> None:
        self._missing = missing_setting(settings)
        self._given_tls = tls
        self._server = (
            parse_server(settings.smtp_url.get_secret_value()) if not self._missing else None
        )
        self._sender = settings.mail_from

    @cached_property
    def _tls(self) -> SSLContext:
        # Loading all root certificates takes time, so do it once.
        return self._given_tls or create_default_context()

    @property
    def domain(self) -> str:
        return _split_sender(self._sender)[1].rpartition("@")[2] or "localhost"

    async def send(self, letter: Letter) -> None:
        """Send a letter. Raises Invalid for an invalid address, MailLoginFailed if the login
        fails, ReplyLost if the server may have the letter, otherwise OutsideError, which is
        permanent if the server rejects the letter."""
        if not self._server:
            raise Unavailable(self._missing or "")
        message = compose(letter, self._sender)
        try:
            await _send(self._server, message, self._tls)
        except (aiosmtplib.SMTPException, OSError, ValueError) as error:
            raise _explain(error, self._server.host, letter.address) from error


def compose(letter: Letter, sender: str) -> EmailMessage:
    """The message to send; raises Invalid for an invalid address. Names, addresses and subjects
    cannot inject headers."""
    message = EmailMessage(policy=POLICY)
    message["From"] = _address(*_split_sender(sender))
    message["To"] = _address(letter.name, letter.address)
    message["Subject"] = to_header_text(letter.subject)
    message["Date"] = formatdate()
    message["Message-ID"] = f"<{letter.message_id}>"
    message["Auto-Submitted"] = "auto-generated"
    if letter.unsubscribe_url:
        message["List-Unsubscribe"] = f"<{letter.unsubscribe_url}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    # Every server accepts this encoding.
    message.set_content(letter.body, charset="utf-8", cte="quoted-printable")
    if letter.html:
        message.add_alternative(
            letter.html, subtype="html", charset="utf-8", cte="quoted-printable"
        )
    for attachment in letter.attachments:
        message.add_attachment(
            attachment.content,
            attachment.maintype,
            attachment.subtype,
            filename=attachment.filename,
            params=dict(attachment.parameters),
        )
    return message


def to_header_text(text: str) -> str:
    """The text on one line, as a header can hold it."""
    flat = " ".join(NOT_IN_A_HEADER.sub(" ", text).split())
    return flat.encode("utf-8", "replace").decode()[:MAX_HEADER_LENGTH]


def _split_sender(sender: str) -> tuple[str, str]:
    """Name and address of a sender that the settings have validated."""
    name, _, address = sender.rpartition("<")
    return name.strip(), address.removesuffix(">")


def _address(name: str, address: str) -> Address:
    local, _, domain = address.rpartition("@")
    try:
        # Every server accepts host names in their ASCII form.
        domain = domain.encode("idna").decode() if not domain.isascii() else domain
    except UnicodeError as error:
        raise Invalid("invalid email address") from error
    if not LOCAL.fullmatch(local) or not DOMAIN.fullmatch(domain):
        raise Invalid("invalid email address")
    return Address(to_header_text(name), username=local, domain=domain)


class _LetterClient(aiosmtplib.SMTP):
    """Raises ReplyLost if the server may have taken the letter."""

    async def data(
        self,
        message: str | bytes,
        /,
        *,
        timeout: float | Literal[Default.token] | None = Default.token,  # noqa: ASYNC109 - as the library calls it
    ) -> SMTPResponse:
        try:
            return await super().data(message, timeout=timeout)
        except (aiosmtplib.SMTPException, OSError) as error:
            if isinstance(error, SMTPResponseException) and error.code >= SMTP_REFUSALS:
                raise
            raise ReplyLost(f"no valid reply to the email: {error}") from error


async def _send(server: MailServer, message: EmailMessage, tls: SSLContext) -> None:
    client = _LetterClient(
        hostname=server.host,
        port=server.port,
        username=server.user,
        password=server.password,
        # Otherwise the library looks up the name of this machine for every letter.
        local_hostname=socket.gethostname(),
        timeout=TIMEOUT_SECONDS,
        use_tls=server.tls,
        start_tls=server.start_tls,
        tls_context=tls,
    )
    async with client:
        await client.send_message(message)


def _explain(error: Exception, host: str, address: str) -> AppError:
    """The server's message without the recipient's address: error logs must not hold personal
    data."""
    if isinstance(error, SMTPRecipientsRefused):
        error = error.recipients[0]
    reply = str(getattr(error, "message", "") or error).replace(address, "the address")
    summary = " ".join(reply.split())[:300] or type(error).__name__
    match error:
        case OSError():
            # Includes a server that refuses the connection.
            return OutsideError(f"{host} did not accept the email: {summary}")
        case SMTPAuthenticationError():
            return MailLoginFailed(f"{host} rejected the login: {error.code} {summary}")
        case SMTPResponseException():
            refusal = f"{host} refused the email: {error.code} {summary}"
            return OutsideError(refusal, permanent=500 <= error.code < 600)
        case SMTPNotSupported():
            return OutsideError(f"{host} cannot deliver the email: {summary}", permanent=True)
        case ValueError():
            return Invalid(f"invalid email address: {summary}")
        case _:
            return MailLoginFailed(f"{host} cannot be used with these settings: {summary}")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
