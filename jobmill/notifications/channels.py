"""Where a person receives notifications; addresses and keys are stored encrypted."""

from __future__ import annotations

import datetime as dt
import json
import re
import secrets as random_secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, LiteralString, TypeAlias
from urllib.parse import urlsplit

from jobmill.db import Tx, fetch_all, fetch_one, fetch_or_raise, fetch_single
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.notifications import web_push
from jobmill.outside.apprise_services import load_apprise
from jobmill.outside.public_addresses import PrivateHosts
from jobmill.outside.webhook import check_url
from jobmill.people import encryption, persons
from jobmill.people.persons import Owner, Role
from jobmill.people.secrets import digest, get_signing_key

ChannelKind: TypeAlias = Literal[
    "email", "webhook", "ntfy", "telegram", "slack", "discord", "push", "apprise", "feed"
]
ChannelConfig: TypeAlias = Mapping[str, str]

REPEATABLE: frozenset[ChannelKind] = frozenset({"webhook", "push"})
"""A message that arrives twice has the same id there, and receivers ignore the second one."""
COLUMNS: LiteralString = "id, person_id, kind, name, enabled, problem, created_at, encrypted"
SELECT: LiteralString = f"SELECT {COLUMNS} FROM notification.channel"
MAX_CHANNELS = 20
MAX_LENGTH = 2_000
TELEGRAM_TOKEN = re.compile(r"[0-9]{3,20}:[A-Za-z0-9_-]{20,80}")
TELEGRAM_CHAT = re.compile(r"-?[0-9]{1,20}|@[A-Za-z0-9_]{3,40}")
NTFY_TOPIC = re.compile(r"/[A-Za-z0-9_-]{1,64}")
DISCORD_HOSTS = ("discord.com", "discordapp.com", "ptb.discord.com", "canary.discord.com")


@dataclass(frozen=True, slots=True)
class NotificationChannel:
    id: int
    person_id: int | None
    kind: ChannelKind
    name: str
    enabled: bool
    problem: str | None
    created_at: dt.datetime
    encrypted: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class NewChannel:
    kind: ChannelKind
    name: str
    """Shown to the person; holds no secret."""
    config: ChannelConfig = field(repr=False)
    target: str = field(repr=False)
    """What makes it the same channel as another."""
    token: str | None = field(default=None, repr=False)


def read_form(
    kind: ChannelKind, form: Mapping[str, str], private: PrivateHosts, *, address: str = ""
) -> NewChannel:
    """The channel that a person filled in; Invalid says which field to correct. `address` is the
    address of their account, which letters go to whatever the form says."""
    values = {name: value.strip() for name, value in form.items()}
    if any(len(value) > MAX_LENGTH for value in values.values()):
        raise Invalid(f"A field can have at most {MAX_LENGTH} characters.")
    if address:
        values["address"] = address
    return _READERS[kind](values, private)


def _email(values: ChannelConfig, private: PrivateHosts) -> NewChannel:
    email = values.get("address", "")
    persons.email_key(email)
    return NewChannel("email", email, {"address": email}, email.lower())


def _webhook(values: ChannelConfig, private: PrivateHosts) -> NewChannel:
    url = check_url(values.get("url", ""), private)
    config = {"url": url, "secret": random_secrets.token_urlsafe(32)}
    return NewChannel("webhook", _shorten(url), config, url)


def _slack(values: ChannelConfig, private: PrivateHosts) -> NewChannel:
    url = check_url(values.get("url", ""), private)
    return NewChannel("slack", _shorten(url), {"url": url}, url)


def _apprise(values: ChannelConfig, private: PrivateHosts) -> NewChannel:
    url = values.get("url", "")
    load_apprise().check_url(url)
    return NewChannel("apprise", f"{url.partition('://')[0]}://…", {"url": url}, url)


def _feed(values: ChannelConfig, private: PrivateHosts) -> NewChannel:
    token = random_secrets.token_urlsafe(32)
    return NewChannel("feed", "Atom feed", {"token": token}, "feed", token)


def _ntfy(values: ChannelConfig, private: PrivateHosts) -> NewChannel:
    url = check_url(values.get("url", ""), private)
    if not NTFY_TOPIC.fullmatch(urlsplit(url).path):
        raise Invalid("Enter the address of an ntfy topic, such as https://ntfy.sh/my-topic.")
    config = {"url": url, "token": values.get("token", "")}
    return NewChannel("ntfy", _shorten(url), config, url)


def _telegram(values: ChannelConfig, private: PrivateHosts) -> NewChannel:
    token, chat = values.get("token", ""), values.get("chat", "")
    if not TELEGRAM_TOKEN.fullmatch(token):
        raise Invalid(
            "Enter the token of your bot, such as 123456:ABC-DEF…, which BotFather shows."
        )
    if not TELEGRAM_CHAT.fullmatch(chat):
        raise Invalid("Enter the number of the chat, such as 123456789, or @channel.")
    return NewChannel("telegram", f"Chat {chat}", {"token": token, "chat": chat}, f"{token} {chat}")


def _discord(values: ChannelConfig, private: PrivateHosts) -> NewChannel:
    url = check_url(values.get("url", ""), private)
    parts = urlsplit(url)
    if parts.hostname not in DISCORD_HOSTS or not parts.path.startswith("/api/webhooks/"):
        raise Invalid("Enter a Discord webhook: https://discord.com/api/webhooks/…")
    return NewChannel("discord", _shorten(url), {"url": url}, url)


def _push(values: ChannelConfig, private: PrivateHosts) -> NewChannel:
    url = check_url(values.get("endpoint", ""), private)
    config = {"endpoint": url, "p256dh": values.get("p256dh", ""), "auth": values.get("auth", "")}
    web_push.check_subscription(config["p256dh"], config["auth"])
    return NewChannel("push", values.get("browser", "")[:100] or "Browser", config, url)


def _shorten(url: str) -> str:
    """The host and the last characters, which tell two channels apart and give nothing away."""
    return f"{urlsplit(url).netloc} …{url[-4:]}"


_READERS: Mapping[ChannelKind, Callable[[ChannelConfig, PrivateHosts], NewChannel]] = {
    "email": _email,
    "webhook": _webhook,
    "ntfy": _ntfy,
    "telegram": _telegram,
    "slack": _slack,
    "discord": _discord,
    "push": _push,
    "apprise": _apprise,
    "feed": _feed,
}


async def add(tx: Tx, owner: Owner, new: NewChannel) -> NotificationChannel:
    """Add a channel; adding the same one again switches it on. Conflict if there are too many."""
    # One form at a time counts and adds.
    await tx.execute("SELECT pg_advisory_xact_lock(hashtext('jobmill.channels'))")
    encrypted = encryption.encrypt(
        await get_signing_key(tx), _context(new.kind), json.dumps(dict(new.config)).encode()
    )
    channel = await fetch_single(
        tx,
        NotificationChannel,
        f"""
        INSERT INTO notification.channel
               (person_id, kind, name, target_digest, encrypted, token_digest)
        VALUES (%s, %s, %s, %s, %s, %s)
        ON CONFLICT ON CONSTRAINT channel_once DO UPDATE
           SET encrypted = excluded.encrypted, token_digest = excluded.token_digest,
               enabled = true, problem = NULL
        RETURNING {COLUMNS}
        """,
        [
            owner,
            new.kind,
            new.name,
            digest(new.target),
            encrypted,
            digest(new.token) if new.token else None,
        ],
    )
    if len(await find_by_owner(tx, owner)) > MAX_CHANNELS:
        raise Conflict(f"You can have at most {MAX_CHANNELS} channels. Remove one first.")
    return channel


async def find_by_owner(tx: Tx, owner: Owner) -> list[NotificationChannel]:
    return await fetch_all(
        tx,
        NotificationChannel,
        f"{SELECT} WHERE person_id IS NOT DISTINCT FROM %s::bigint ORDER BY id",
        [owner],
    )


async def get(tx: Tx, owner: Owner, id: int) -> NotificationChannel:
    """A channel of this person; NotFound for the channel of another person."""
    return await fetch_or_raise(
        tx,
        NotificationChannel,
        f"{SELECT} WHERE id = %s AND person_id IS NOT DISTINCT FROM %s::bigint",
        [id, owner],
        NotFound("channel", id),
    )


async def find_by_id(tx: Tx, id: int) -> NotificationChannel | None:
    """The channel of any person, for callers that hold a signed link to it."""
    return await fetch_one(tx, NotificationChannel, f"{SELECT} WHERE id = %s", [id])


async def remove(tx: Tx, owner: Owner, id: int) -> None:
    """Remove a channel with its delivery log."""
    await get(tx, owner, id)
    await tx.execute("DELETE FROM notification.channel WHERE id = %s", [id])


async def set_enabled(
    tx: Tx, id: int, enabled: bool, problem: str | None = None
) -> NotificationChannel | None:
    """Switch a channel on or off; None if it was removed. The sender drops what still waits."""
    return await fetch_one(
        tx,
        NotificationChannel,
        f"""
        UPDATE notification.channel SET enabled = %s, problem = %s WHERE id = %s
        RETURNING {COLUMNS}
        """,
        [enabled, problem, id],
    )


@dataclass(frozen=True, slots=True)
class Recipient:
    """A channel that may receive messages now."""

    channel_id: int
    person_id: int | None
    role: Role


async def find_recipients(tx: Tx, owners: Collection[Owner]) -> list[Recipient]:
    """The enabled channels of these people, except feeds, which nothing is sent to."""
    return await fetch_all(
        tx,
        Recipient,
        """
        SELECT channel.id AS channel_id, channel.person_id, recipient.role
          FROM notification.channel
          JOIN notification.recipient ON recipient.person_id IS NOT DISTINCT FROM channel.person_id
         WHERE channel.enabled AND channel.kind <> 'feed'
           AND (channel.person_id = ANY (%(ids)s) OR (channel.person_id IS NULL AND %(local)s))
         ORDER BY channel.id
        """,
        {"ids": [id for id in owners if id is not None], "local": None in owners},
    )


async def find_feed(tx: Tx, token: str) -> NotificationChannel:
    """The feed with this secret; NotFound if it was replaced or its person has no access."""
    return await fetch_or_raise(
        tx,
        NotificationChannel,
        """
        SELECT channel.id, channel.person_id, kind, channel.name, enabled, problem,
               channel.created_at, encrypted
          FROM notification.channel LEFT JOIN people.person ON person.id = person_id
         WHERE token_digest = %s AND enabled AND ended_at IS NULL
        """,
        [digest(token)],
        NotFound("feed", "with this address"),
    )


async def decrypt_config(tx: Tx, channel: NotificationChannel) -> ChannelConfig:
    return decrypt_with(await get_signing_key(tx), channel.kind, channel.encrypted)


def decrypt_with(signing_key: bytes, kind: ChannelKind, encrypted: bytes) -> ChannelConfig:
    return json.loads(encryption.decrypt(signing_key, _context(kind), encrypted))


def _context(kind: ChannelKind) -> str:
    return f"notification channel {kind}"
