"""A network backend that records which addresses are connected to."""

from __future__ import annotations

from collections.abc import Iterable

import httpcore2


class Dialled(httpcore2.AsyncNetworkBackend):
    """Records the addresses; every connection fails."""

    def __init__(self) -> None:
        self.addresses: list[str] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.addresses.append(host)
        return await self.connect(host, timeout)

    async def connect(self, host: str, timeout: float | None) -> httpcore2.AsyncNetworkStream:
        raise httpcore2.ConnectError("nobody is there")
