"""The company as applicants see it: name, website, logo and color, on public pages, in letters and postings."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from urllib.parse import urlsplit

from jobmill.db import Tx, fetch_one
from jobmill.errors import Invalid
from jobmill.hiring import accent_colors
from jobmill.hiring.logo_images import LogoImage

MAX_NAME_LENGTH = 200
MAX_WEBSITE_LENGTH = 500


@dataclass(frozen=True, slots=True)
class CompanyIdentity:
    name: str | None = None
    website: str | None = None
    accent: str | None = None
    """The color of buttons and links, as #rrggbb; None: the built-in one."""
    logo_hash: str | None = None
    """Identifies the logo; None: there is none."""


NO_IDENTITY = CompanyIdentity()


async def read_identity(tx: Tx) -> CompanyIdentity:
    identity = await fetch_one(
        tx, CompanyIdentity, "SELECT name, website, accent, logo_hash FROM hiring.company"
    )
    return identity or NO_IDENTITY


async def save_identity(
    tx: Tx, *, name: str | None, website: str | None = None, accent: str | None = None
) -> CompanyIdentity:
    """Replace name, website and color; the logo stays. Raises Invalid."""
    await tx.execute(
        """
        INSERT INTO hiring.company (name, website, accent) VALUES (%s, %s, %s)
        ON CONFLICT (only_row) DO UPDATE
           SET name = excluded.name, website = excluded.website, accent = excluded.accent
        """,
        [check_name(name), _check_website(website), accent_colors.parse_color(accent)],
    )
    return await read_identity(tx)


async def set_name_once(tx: Tx, name: str) -> None:
    """Set the name unless the company has one."""
    await tx.execute(
        """
        INSERT INTO hiring.company AS existing (name) VALUES (%s)
        ON CONFLICT (only_row) DO UPDATE SET name = excluded.name WHERE existing.name IS NULL
        """,
        [check_name(name)],
    )


def check_name(text: str | None) -> str | None:
    """The name on one line; None if it is empty."""
    name = " ".join((text or "").split())
    if len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise Invalid(f"The company name should have up to {MAX_NAME_LENGTH} printable characters.")
    return name or None


def _check_website(text: str | None) -> str | None:
    url = (text or "").strip()
    if not url:
        return None
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_url = False
    if not is_url or len(url) > MAX_WEBSITE_LENGTH or not url.isprintable() or " " in url:
        raise Invalid("The website should be an address such as https://www.example.org.")
    return url


async def save_logo(tx: Tx, logo: LogoImage | None) -> None:
    """Replace the logo; None removes it."""
    values = (
        (logo.data, logo.media_type, hashlib.sha256(logo.data).hexdigest()[:16])
        if logo
        else (None, None, None)
    )
    await tx.execute(
        """
        INSERT INTO hiring.company (logo, logo_type, logo_hash) VALUES (%s, %s, %s)
        ON CONFLICT (only_row) DO UPDATE
           SET logo = excluded.logo, logo_type = excluded.logo_type, logo_hash = excluded.logo_hash
        """,
        values,
    )


async def read_logo(tx: Tx) -> LogoImage | None:
    return await fetch_one(
        tx,
        LogoImage,
        "SELECT logo_type AS media_type, logo AS data FROM hiring.company WHERE logo IS NOT NULL",
    )
