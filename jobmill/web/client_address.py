"""Find the address of the client, behind trusted proxies too, and whether it is this machine."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from fastapi import Request

PROXY_HEADERS = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""A proxy on this machine connects from loopback; most proxies send one of these."""


@dataclass(frozen=True, slots=True)
class ClientResolver:
    local: bool
    """Whether the server listens on loopback only."""
    proxies: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()
    """Networks of trusted proxies: their X-Forwarded headers count."""

    @classmethod
    def create(cls, *, local: bool, proxies: Iterable[str] = ()) -> Self:
        return cls(local, tuple(ipaddress.ip_network(network) for network in proxies))

    def is_local(self, request: Request) -> bool:
        """Whether the request comes from this machine and passed no proxy."""
        address = _parse(_host(request))
        return (
            self.local
            and address is not None
            and address.is_loopback
            and not any(name in request.headers for name in PROXY_HEADERS)
        )

    def is_https(self, request: Request) -> bool:
        trusted = self._trusts(_host(request))
        forwarded = request.headers.get("x-forwarded-proto") if trusted else None
        return (forwarded or request.scope["scheme"]) == "https"

    def address(self, request: Request) -> str:
        """The peer, or the client that the last trusted proxy reports."""
        hops = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
        address = _host(request)
        while hops and self._trusts(address) and _parse(hops[-1]):
            address = hops.pop().strip()
        return address

    def _trusts(self, host: str) -> bool:
        address = _parse(host)
        return address is not None and any(address in network for network in self.proxies)


def rate_limit_network(host: str) -> str:
    """The address that rate limits count: a /64 for IPv6, since one client gets all of it."""
    address = _parse(host)
    if address is None or address.version == 4:
        return str(address or host)
    return str(ipaddress.ip_network((address, 64), strict=False))


def _host(request: Request) -> str:
    return request.client.host if request.client else ""


@lru_cache(maxsize=1_024)
def _parse(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address; an IPv4 address that a dual-stack socket shows as IPv6 is unmapped."""
    try:
        address = ipaddress.ip_address(host.strip())
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
