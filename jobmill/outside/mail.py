"""Hands letters to a mail server, one connection a letter."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from functools import cached_property
from ssl import SSLContext, create_default_context
from urllib.parse import unquote, urlsplit

import aiosmtplib
from aiosmtplib import (
    SMTPAuthenticationError,
    SMTPNotSupported,
    SMTPRecipientsRefused,
    SMTPResponseException,
)

from jobmill.errors import AppError, Invalid, OutsideError, Unavailable
from jobmill.settings import Settings

TIMEOUT_SECONDS = 20.0
"""How long each answer of the server may take."""
PORTS = {"smtp": 587, "smtps": 465}
MAX_HEADER_LENGTH = 200
LOCAL = re.compile(r"[^\s@<>()\[\],;:\\\"\x00-\x20\x7f]{1,64}")
DOMAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
NOT_IN_A_HEADER = re.compile(r"[^\S ]+|[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class MailLoginFailed(OutsideError):
    """The server does not let us in: not the letter is at fault, but how the server is set."""


@dataclass(frozen=True, slots=True)
class Letter:
    """Plain text to one person."""

    name: str
    address: str
    subject: str
    body: str
    message_id: str
    """Without its brackets. The same letter has the same one, however often it is sent."""


@dataclass(frozen=True, slots=True)
class MailServer:
    host: str
    port: int
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: bool = False
    """From the first byte on."""

    @property
    def start_tls(self) -> bool | None:
        """True: it must; None: where the server offers it. A password goes nowhere in the clear,
        except to this machine."""
        if self.tls or _is_loopback(self.host):
            return False
        return True if self.password else None


def missing_setting(settings: Settings) -> str | None:
    """What is missing to send any letter, in words; None where nothing is."""
    if not settings.smtp_url.get_secret_value():
        return "no mail server is set (smtp_url)"
    if not settings.mail_from:
        return "no sender is set (mail_from)"
    return None


def parse_server(url: str) -> MailServer:
    """From a URL as the settings have checked it."""
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
    """The way to the operator's mail server. What it accepted is on its way, but whoever dies before
    noting that down sends it again: at least once, under the same Message-ID."""

    def __init__(self, settings: Settings, *, tls: SSLContext | None = None) -> None:
        self._missing = missing_setting(settings)
        self._given_tls = tls
        self._server = (
            parse_server(settings.smtp_url.get_secret_value()) if not self._missing else None
        )
        self._sender = settings.mail_from

    @cached_property
    def _tls(self) -> SSLContext:
        # It reads all the certificates there are, which is not to be done for every letter.
        return self._given_tls or create_default_context()

    @property
    def domain(self) -> str:
        return _split(self._sender)[1].rpartition("@")[2] or "localhost"

    async def send(self, letter: Letter) -> None:
        """Hand it over; Invalid for what is no address, NoSignIn where we are not let in, else
        OutsideError, permanent if the server will not have it."""
        if not self._server:
            raise Unavailable(self._missing or "")
        message = compose(letter, self._sender)
        try:
            await _hand_over(self._server, message, self._tls)
        except (aiosmtplib.SMTPException, OSError, ValueError) as error:
            raise _explain(error, self._server.host, letter.address) from error


def compose(letter: Letter, sender: str) -> EmailMessage:
    """The letter as it is sent; Invalid for what is no address. Nothing in a name, an address or a
    subject can begin a header of its own."""
    message = EmailMessage(policy=SMTP)
    message["From"] = _address(*_split(sender))
    message["To"] = _address(letter.name, letter.address)
    message["Subject"] = to_header_text(letter.subject)
    message["Date"] = formatdate()
    message["Message-ID"] = f"<{letter.message_id}>"
    message["Auto-Submitted"] = "auto-generated"
    # Readable by any server, whatever it says of itself.
    message.set_content(letter.body, charset="utf-8", cte="quoted-printable")
    return message


def to_header_text(text: str) -> str:
    """The text as a header can hold it."""
    flat = " ".join(NOT_IN_A_HEADER.sub(" ", text).split())
    return flat.encode("utf-8", "replace").decode()[:MAX_HEADER_LENGTH]


def _split(sender: str) -> tuple[str, str]:
    """Name and address, from what the settings have checked."""
    name, _, address = sender.rpartition("<")
    return name.strip(), address.removesuffix(">")


def _address(name: str, address: str) -> Address:
    local, _, domain = address.rpartition("@")
    try:
        # Names of hosts have a spelling in ASCII, which every server knows.
        domain = domain.encode("idna").decode() if not domain.isascii() else domain
    except UnicodeError as error:
        raise Invalid("what stands as the address is none") from error
    if not LOCAL.fullmatch(local) or not DOMAIN.fullmatch(domain):
        raise Invalid("what stands as the address is none")
    return Address(to_header_text(name), username=local, domain=domain)


async def _hand_over(server: MailServer, message: EmailMessage, tls: SSLContext) -> None:
    await aiosmtplib.send(
        message,
        hostname=server.host,
        port=server.port,
        username=server.user,
        password=server.password,
        # Without it the name of this machine would be looked up for every letter.
        local_hostname=socket.gethostname(),
        timeout=TIMEOUT_SECONDS,
        use_tls=server.tls,
        start_tls=server.start_tls,
        tls_context=tls,
    )


def _explain(error: Exception, host: str, address: str) -> AppError:
    """What the server said, without the address it said it about: errors are kept where people's
    data is not looked for."""
    if isinstance(error, SMTPRecipientsRefused):
        error = error.recipients[0]
    said = str(getattr(error, "message", "") or error).replace(address, "the address")
    words = " ".join(said.split())[:300] or type(error).__name__
    match error:
        case OSError():
            # Also a server that greets us with a refusal: it is not about this letter.
            return OutsideError(f"{host} did not take the letter: {words}")
        case SMTPAuthenticationError():
            return MailLoginFailed(f"{host} did not let us in: {error.code} {words}")
        case SMTPResponseException():
            refusal = f"{host} refused the letter: {error.code} {words}"
            return OutsideError(refusal, permanent=500 <= error.code < 600)
        case SMTPNotSupported():
            return OutsideError(f"{host} cannot carry the letter: {words}", permanent=True)
        case ValueError():
            return Invalid(f"what stands as the address is none: {words}")
        case _:
            return MailLoginFailed(f"{host} cannot be used as it is set: {words}")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
