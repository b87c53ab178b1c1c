"""Encrypt secrets that must be readable again, with a key derived from the installation's signing key.

It protects copies of single tables and rows. The signing key is in the same database, so a whole backup
holds both: keep backups as secret as the database.
"""

from __future__ import annotations

import hmac
import os

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12


def encrypt(signing_key: bytes, context: str, secret: bytes) -> bytes:
    """`context` says what the secret is for: it cannot be decrypted as another one."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + _cipher(signing_key).encrypt(nonce, secret, context.encode())


def decrypt(signing_key: bytes, context: str, stored: bytes) -> bytes:
    nonce, encrypted = stored[:NONCE_BYTES], stored[NONCE_BYTES:]
    return _cipher(signing_key).decrypt(nonce, encrypted, context.encode())


def _cipher(signing_key: bytes) -> AESGCM:
    return AESGCM(hmac.digest(signing_key, b"encryption of stored secrets", "sha256"))
