"""Codes of authenticator apps (RFC 6238: SHA-1, 6 digits, 30 seconds, which every app supports)."""

from __future__ import annotations

import base64
import hmac
import os
from urllib.parse import quote, urlencode

SEED_BYTES = 20
STEP_SECONDS = 30
DIGITS = 6
ISSUER = "Jobmill"


def generate_seed() -> bytes:
    return os.urandom(SEED_BYTES)


def code_at(seed: bytes, step: int) -> str:
    """The code of one 30-second step since 1970."""
    digest = hmac.digest(seed, step.to_bytes(8, "big"), "sha1")
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**DIGITS:0{DIGITS}}"


def find_step(seed: bytes, code: str, current_step: int) -> int | None:
    """The step of this code, which may be one earlier or later: clocks differ, and people type."""
    steps = (current_step, current_step - 1, current_step + 1)
    return next((step for step in steps if hmac.compare_digest(code_at(seed, step), code)), None)


def format_seed(seed: bytes) -> str:
    """The seed as people type it: ABCD EFGH …"""
    text = base64.b32encode(seed).decode()
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def provisioning_url(seed: bytes, account: str) -> str:
    """What the QR code holds."""
    query = urlencode({"secret": base64.b32encode(seed).decode(), "issuer": ISSUER})
    return f"otpauth://totp/{quote(f'{ISSUER}:{account}')}?{query}"
