"""Checks which URLs, host names and addresses may be requested."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import TypeAlias

import httpx2

from jobmill.errors import OutsideError

PrivateHosts: TypeAlias = frozenset[tuple[str, int]]
"""Hosts and ports that the operator allows although they are not public."""

PORTS = {"http": 80, "https": 443}
MAX_URL_LENGTH = 8_000

_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
# Forms that resolvers read as an address: 127.1, 0x7f.1, 2130706433, 0177.0.0.1
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_LOCAL_NAMES = ("localhost", "localdomain", "local", "internal", "home.arpa", "lan")

_PUBLIC_6 = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")
_NOT_PUBLIC_4 = tuple(
    ip_network(net)
    for net in (
        "0.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT; metadata of some clouds
        "168.63.129.16/32",  # a public number, but internal to one cloud
        "192.0.0.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "198.18.0.0/15",
        "224.0.0.0/3",
    )
)
_NOT_PUBLIC_6 = tuple(
    ip_network(net)
    for net in (
        "2001::/23",  # Teredo and other tunnels
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "3fff::/20",
    )
)


class AddressRefused(OutsideError):
    """The URL, host name or address may not be requested."""

    def __init__(self, message: str) -> None:
        super().__init__(message, permanent=True)


@dataclass(frozen=True, slots=True)
class AllowedUrl:
    """A URL that passed all checks that need no address lookup."""

    url: str
    scheme: str
    host: str
    port: int
    path: str
    """Including the query."""

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def rate_limit_key(self) -> str:
        """The key of the host's rate limit; http and https share one."""
        return self.host if self.port in PORTS.values() else f"{self.host}:{self.port}"


def parse_url(url: str, private: PrivateHosts = frozenset()) -> AllowedUrl:
    """Parse and check a URL; raises AddressRefused."""
    if len(url) > MAX_URL_LENGTH or "\\" in url or any(c.isspace() for c in url.split("?")[0]):
        raise AddressRefused("the URL is too long or has invalid characters")
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise AddressRefused("not a URL") from error
    if parsed.scheme not in PORTS:
        raise AddressRefused("only http and https URLs are allowed")
    if parsed.userinfo:
        raise AddressRefused("a URL with a user name or password is not allowed")
    host = parsed.raw_host.decode("ascii")
    port = PORTS[parsed.scheme] if parsed.port is None else parsed.port
    check_host(host, port, private)
    plain = str(parsed.copy_with(fragment=None))
    return AllowedUrl(plain, parsed.scheme, host, port, parsed.raw_path.decode("ascii"))


def check_host(host: str, port: int, private: PrivateHosts = frozenset()) -> None:
    """Check the port and the host name or address, before any lookup; raises AddressRefused."""
    if (host, port) in private:
        return
    if port not in PORTS.values():
        raise AddressRefused(f"port {port} is not allowed, only 80 and 443")
    address = _literal(host)
    if address is None:
        _check_name(host)
    elif not is_public(address):
        raise AddressRefused(f"{host} is not a public address")


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether the address is publicly routable."""
    if isinstance(address, IPv4Address):
        return address.is_global and not any(address in net for net in _NOT_PUBLIC_4)
    if address in _NAT64:
        # IPv6-only networks map every IPv4 address to this range: check the embedded address.
        return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    return address in _PUBLIC_6 and not any(address in net for net in _NOT_PUBLIC_6)


def is_public_text(address: str) -> bool:
    """`is_public` for an address as text."""
    try:
        return is_public(ipaddress.ip_address(address))
    except ValueError:
        return False


def parse_private_hosts(text: str) -> PrivateHosts:
    """Parse `host:port,host:port`, which the settings have validated."""
    parts = [part.strip().rpartition(":") for part in text.split(",") if part.strip()]
    return frozenset((host.strip("[]").lower(), int(port)) for host, _, port in parts)


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _check_name(host: str) -> None:
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise AddressRefused("invalid host name")
    if _NUMBER.fullmatch(labels[-1]):
        raise AddressRefused(f"{host} is not a valid host name")
    if len(labels) == 1 or any(host == name or host.endswith(f".{name}") for name in _LOCAL_NAMES):
        raise AddressRefused(f"{host} is a local name, not a public host")
