"""Admits the user who runs a local server: a link from their terminal, which works once, then a cookie.

Everybody with an account on the machine can connect to a loopback port, so the address of a request
does not show whose request it is.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from urllib.parse import urlencode

PATH = "/sign-in/local"
KEY_BYTES = 32
LINK_LIFETIME = dt.timedelta(hours=1)
COOKIE_LIFETIME = dt.timedelta(days=30)


class LocalAccess:
    def __init__(
        self, cookie_key: bytes | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        """`cookie_key`: shared by the servers of one user, so that browsers stay signed in after a restart."""
        self.link_key = secrets.token_bytes(KEY_BYTES)
        """Of this server only, so that no other program on its port can use a link later."""
        self._cookie_key = cookie_key or secrets.token_bytes(KEY_BYTES)
        self._clock = clock
        self._redeemed: dict[str, float] = {}
        """Used tokens, and when each can be forgotten because it has expired."""

    def create_cookie(self) -> str:
        return _sign(self._cookie_key, self._clock() + COOKIE_LIFETIME.total_seconds())

    def accepts_cookie(self, cookie: str) -> bool:
        return _expiry(self._cookie_key, cookie) > self._clock()

    def redeem(self, token: str) -> bool:
        """Whether the token of a link is valid and was not used before."""
        now = self._clock()
        self._redeemed = {used: end for used, end in self._redeemed.items() if end > now}
        expires_at = _expiry(self.link_key, token)
        if expires_at <= now or token in self._redeemed:
            return False
        self._redeemed[token] = expires_at
        return True


def create_link(base_url: str, link_key: bytes, now: float | None = None) -> str:
    """The URL that signs one browser in. `base_url`: the server, without a trailing slash."""
    now = time.time() if now is None else now
    token = _sign(link_key, now + LINK_LIFETIME.total_seconds())
    return f"{base_url}{PATH}?{urlencode({'token': token})}"


def cookie_name(port: int) -> str:
    """Browsers send cookies to all ports of a host, so servers on several ports need several names."""
    return f"jobmill_local_{port}"


def _sign(key: bytes, expires_at: float) -> str:
    text = f"{expires_at:.0f}.{secrets.token_urlsafe(16)}"
    return f"{text}.{_signature(key, text)}"


def _expiry(key: bytes, signed: str) -> float:
    """When it expires; 0 if the signature is wrong."""
    text, _, signature = signed.rpartition(".")
    if not hmac.compare_digest(
        _signature(key, text).encode(), signature.encode("utf-8", "surrogatepass")
    ):
        return 0
    return float(text.partition(".")[0])


def _signature(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
