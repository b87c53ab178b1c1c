"""Limits on public applications and sign-ins, counted in PostgreSQL for all web processes together.

A limit of n an hour allows n at once and then one every 3,600 / n seconds. A row holds only the time at
which nothing of its limit is used any more.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import ipaddress
import math
from collections.abc import Sequence
from typing import NamedTuple

from jobmill.db import Tx
from jobmill.errors import RateLimited

HOUR = dt.timedelta(hours=1)
BATCH_SIZE = 10_000
FREE_MAIL_DOMAINS = frozenset(
    {
        "126.com", "163.com", "aol.com", "bluewin.ch", "comcast.net", "fastmail.com", "free.fr",
        "freenet.de", "gmail.com", "gmx.at", "gmx.ch", "gmx.com", "gmx.de", "gmx.net", "googlemail.com",
        "hey.com", "hotmail.co.uk", "hotmail.com", "hotmail.de", "hotmail.fr", "icloud.com",
        "laposte.net", "libero.it", "live.com", "mac.com", "mail.com", "mail.ru", "mailbox.org",
        "me.com", "msn.com", "naver.com", "orange.fr", "outlook.com", "outlook.de", "outlook.fr",
        "pm.me", "posteo.de", "proton.me", "protonmail.com", "qq.com", "rediffmail.com", "seznam.cz",
        "t-online.de", "tutanota.com", "web.de", "wp.pl", "yahoo.co.in", "yahoo.co.jp", "yahoo.co.uk",
        "yahoo.com", "yahoo.com.br", "yahoo.de", "yahoo.fr", "yandex.ru", "ymail.com", "zoho.com",
    }
)  # fmt: skip
"""Mail providers for everyone: their domains are not limited."""


class PublicApplyLimits(NamedTuple):
    """How many people may apply within an hour without signing in; 0: no limit."""

    opening: int = 0
    network: int = 0
    domain: int = 0


NO_LIMITS = PublicApplyLimits()


class ApplyLimit(NamedTuple):
    key: str
    number: int
    """0: no limit."""
    window: dt.timedelta = HOUR
    """The time in which this number is allowed."""


WITHOUT_PROOF = PublicApplyLimits(opening=60, network=5)
UPLOADS_PER_HOUR = 120


def network_of(host: str) -> str:
    """The network that is limited: /24 for IPv4, /48 for IPv6, which one customer may get."""
    try:
        address = ipaddress.ip_address(host.strip())
    except ValueError:
        return host
    address = getattr(address, "ipv4_mapped", None) or address
    return str(ipaddress.ip_network((address, 24 if address.version == 4 else 48), strict=False))


def list_limits(
    opening_id: int, host: str, email_key: str, numbers: PublicApplyLimits
) -> list[ApplyLimit]:
    """The limits that an application counts against."""
    limits = [
        ApplyLimit(f"opening {opening_id}", numbers.opening),
        ApplyLimit(f"network {network_of(host)}", numbers.network),
    ]
    mail_domain = email_key.rpartition("@")[2]
    if mail_domain not in FREE_MAIL_DOMAINS:
        # A digest: the table must not become a list of the applicants' employers.
        digest = hashlib.sha256(_registered_domain(mail_domain).encode()).hexdigest()
        limits.append(ApplyLimit(f"domain {digest}", numbers.domain))
    return [limit for limit in limits if limit.number]


def list_limits_without_proof(opening_id: int, host: str) -> list[ApplyLimit]:
    """The additional limits of applications without a proof of work."""
    return [
        ApplyLimit(f"unproven for opening {opening_id}", WITHOUT_PROOF.opening),
        ApplyLimit(f"unproven from {network_of(host)}", WITHOUT_PROOF.network),
    ]


def proof_limit(digest: str) -> ApplyLimit:
    """A proof of work counts once within an hour, after which it has expired."""
    return ApplyLimit(f"proof {digest}", 1)


def upload_limit(host: str) -> ApplyLimit:
    """Files that one network may upload, whether an application follows or not."""
    return ApplyLimit(f"uploads from {network_of(host)}", UPLOADS_PER_HOUR)


def _registered_domain(domain: str) -> str:
    """The registered part of a domain, so that subdomains do not multiply a limit."""
    labels = domain.split(".")
    # Under names such as co.uk or com.br, three labels are registered.
    has_short_suffix = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3
    return ".".join(labels[-3:] if has_short_suffix else labels[-2:])


async def count_attempt(tx: Tx, limits: Sequence[ApplyLimit]) -> None:
    """Count one attempt against all limits; raises RateLimited, and the caller rolls back."""
    if not limits:
        return
    # Sorted, so that two transactions lock their rows in the same order.
    limits = sorted(limits)
    cursor = await tx.execute(
        """
        WITH attempt AS (
            SELECT *
              FROM unnest(%(keys)s::text[], %(spans)s::interval[], %(windows)s::interval[])
                   AS attempt (key, span, period)
        ), taken AS (
            INSERT INTO hiring.apply_limit AS existing (key, resets_at)
            SELECT key, clock_timestamp() + span FROM attempt
            ON CONFLICT (key) DO UPDATE
               SET resets_at = greatest(existing.resets_at, clock_timestamp())
                             + (excluded.resets_at - clock_timestamp())
            RETURNING key, resets_at
        )
        SELECT extract(epoch FROM max(resets_at - period) - clock_timestamp())
          FROM taken JOIN attempt USING (key)
        """,
        {
            "keys": [limit.key for limit in limits],
            "spans": [limit.window / limit.number for limit in limits],
            "windows": [limit.window for limit in limits],
        },
    )
    [[seconds]] = await cursor.fetchall()
    if seconds > 0:
        raise RateLimited(math.ceil(seconds))


async def delete_unused(tx: Tx) -> int:
    """Delete a batch of limits of which nothing is used; returns how many."""
    deleted = await tx.execute(
        """
        DELETE FROM hiring.apply_limit
         WHERE key = ANY (ARRAY(SELECT key FROM hiring.apply_limit WHERE resets_at < now()
                                 LIMIT %s FOR UPDATE SKIP LOCKED))
        """,
        [BATCH_SIZE],
    )
    return deleted.rowcount
