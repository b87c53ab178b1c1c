"""Connects only to public addresses, and to exactly the address that was checked."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeAlias, cast

import httpcore2

from .public_addresses import AddressRefused, PrivateHosts, check_host, is_public_text

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]

MAX_ADDRESSES_TRIED = 3
"""Addresses of a name to try."""


async def resolve_with_system(host: str, port: int) -> Sequence[str]:
    """The addresses of a name; raises OSError if it has none."""
    entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in entries]


class HostUnresolved(httpcore2.ConnectError):
    """The name of a host has no address, as far as our name server says. No request was sent."""


class AddressGuard(httpcore2.AsyncNetworkBackend):
    """The only way to open a socket. It resolves a name once, requires that all its addresses are
    public, and connects to one of them, so that DNS rebinding has no effect."""

    def __init__(
        self,
        private: PrivateHosts = frozenset(),
        *,
        resolve: Resolve = resolve_with_system,
        dial: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        self.private = private
        self.resolve = resolve
        self._dial = dial or cast(httpcore2.AsyncNetworkBackend, httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - as the library calls it
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        check_host(host, port, self.private)
        last: Exception | None = None
        for address in (await self._addresses(host, port, timeout))[:MAX_ADDRESSES_TRIED]:
            try:
                return await self._dial.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                last = error
        raise last or HostUnresolved(f"{host} has no address")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - as the library calls it
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise AddressRefused("Unix sockets are not allowed")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _addresses(self, host: str, port: int, seconds: float | None) -> list[str]:
        try:
            async with asyncio.timeout(seconds):
                addresses = list(dict.fromkeys(await self.resolve(host, port)))
        except TimeoutError as error:
            raise HostUnresolved(f"{host} cannot be resolved: it took too long") from error
        except (OSError, UnicodeError) as error:
            raise HostUnresolved(f"{host} cannot be resolved") from error
        if (host, port) not in self.private and not all(map(is_public_text, addresses)):
            # One private address is enough to refuse: a mixed answer is an attempt to reach it.
            raise AddressRefused(f"{host} has an address that is not public")
        return addresses
