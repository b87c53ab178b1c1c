"""Proofs of work: a browser finds a number whose hash with our challenge starts with zero bits.

They make many applications expensive without a third party. A browser without JavaScript sends none and
is limited more strictly instead.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import secrets

from jobmill.hiring.messages.signed_links import InvalidLink, LinkSigner

LIFETIME = dt.timedelta(hours=1)
NUMBER = re.compile(r"[0-9]{1,15}")


def make_challenge(signer: LinkSigner, opening_id: int, at: dt.datetime) -> str:
    """A challenge for one opening; `at` is the database's time."""
    return signer.sign_challenge([opening_id, int(at.timestamp()), secrets.token_hex(8)])


def check_proof(
    signer: LinkSigner, proof: str, opening_id: int, bits: int, at: dt.datetime
) -> str | None:
    """A digest of the challenge if the proof `challenge:number` is valid at this time, else None."""
    challenge, _, number = proof.rpartition(":")
    try:
        challenged_id, seconds, _ = signer.read_challenge(challenge)
    except InvalidLink:
        return None
    age = at - dt.datetime.fromtimestamp(seconds, dt.UTC)
    if challenged_id != opening_id or age > LIFETIME or not NUMBER.fullmatch(number):
        return None
    digest = hashlib.sha256(proof.encode()).digest()
    is_solved = int.from_bytes(digest) >> (256 - bits) == 0
    return hashlib.sha256(challenge.encode()).hexdigest() if is_solved else None
