"""The other end of a connection: whose address counts, and whether it is this machine."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from fastapi import Request

# A proxy on this machine makes the whole world look local; most of them say that they are there.
FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


@dataclass(frozen=True, slots=True)
class Peers:
    local: bool
    """Whether only this machine can reach us."""
    proxies: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()
    """Those who are believed when they say for whom they ask."""

    def is_local(self, request: Request) -> bool:
        """Whether somebody at this machine asks, who may do everything."""
        found = _parse(_host(request))
        return (
            self.local
            and found is not None
            and found.is_loopback
            and not any(name in request.headers for name in FORWARDED)
        )

    def is_https(self, request: Request) -> bool:
        told = request.headers.get("x-forwarded-proto") if self._trusts(_host(request)) else None
        return (told or request.url.scheme) == "https"

    def address(self, request: Request) -> str:
        """Who asks: the peer, or whom the last proxy that we trust has asked for."""
        hops = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
        found = _host(request)
        while hops and self._trusts(found) and _parse(hops[-1]):
            found = hops.pop().strip()
        return found

    def _trusts(self, address: str) -> bool:
        found = _parse(address)
        return found is not None and any(found in network for network in self.proxies)


def peers(*, local: bool, proxies: Iterable[str] = ()) -> Peers:
    return Peers(local, tuple(ipaddress.ip_network(one) for one in proxies))


def household(address: str) -> str:
    """Who shares an address, as limits count: one of IPv6 comes with 2^64 neighbours."""
    found = _parse(address)
    if found is None or found.version == 4:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False))


def _host(request: Request) -> str:
    return request.client.host if request.client else ""


def _parse(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(address.strip())
    except ValueError:
        return None
