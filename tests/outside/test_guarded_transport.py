from __future__ import annotations

from collections.abc import Sequence

import httpcore2
import pytest

from jobmill.outside.guarded_transport import AddressGuard, Resolve
from jobmill.outside.public_addresses import AddressRefused, parse_private_hosts
from tests.outside.dialled import Dialled


def answers(*rounds: Sequence[str]) -> Resolve:
    """A name server with a different answer each time."""
    left = list(rounds)

    async def resolve(host: str, port: int) -> Sequence[str]:
        return left.pop(0)

    return resolve


async def test_the_address_that_was_checked_is_the_one_connected_to() -> None:
    dialled = Dialled()
    guard = AddressGuard(resolve=answers(["93.184.216.34"], ["127.0.0.1"]), dial=dialled)
    with pytest.raises(httpcore2.ConnectError, match="nobody is there"):
        await guard.connect_tcp("rebinding.example.com", 80)
    with pytest.raises(AddressRefused, match="not public"):
        await guard.connect_tcp("rebinding.example.com", 80)
    assert dialled.addresses == ["93.184.216.34"]


@pytest.mark.parametrize(
    "addresses",
    [["93.184.216.34", "127.0.0.1"], ["10.0.0.1", "8.8.8.8"], ["::1"], ["fe80::1%eth0"], ["x"]],
)
async def test_one_private_address_is_enough_to_refuse(addresses: list[str]) -> None:
    dialled = Dialled()
    with pytest.raises(AddressRefused):
        await AddressGuard(resolve=answers(addresses), dial=dialled).connect_tcp(
            "mixed.example.com", 443
        )
    assert dialled.addresses == []


async def test_addresses_are_tried_in_order() -> None:
    dialled = Dialled()
    many = [f"8.8.8.{n}" for n in range(9)]
    with pytest.raises(httpcore2.ConnectError):
        await AddressGuard(resolve=answers(many), dial=dialled).connect_tcp("many.example.com", 443)
    assert dialled.addresses == many[:3]


@pytest.mark.parametrize("error", [OSError("no such name"), UnicodeError("label too long")])
async def test_a_name_without_an_address_is_a_failed_connection(error: Exception) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise error

    with pytest.raises(httpcore2.ConnectError, match="cannot be resolved"):
        await AddressGuard(resolve=resolve).connect_tcp("gone.example.com", 443)
    with pytest.raises(httpcore2.ConnectError, match="has no address"):
        await AddressGuard(resolve=answers([])).connect_tcp("empty.example.com", 443)


async def test_ports_and_names_are_checked_before_any_lookup() -> None:
    guard = AddressGuard(parse_private_hosts("127.0.0.1:8001"), resolve=answers())
    for host, port in [("example.com", 22), ("localhost", 80), ("127.0.0.1", 80)]:
        with pytest.raises(AddressRefused):
            await guard.connect_tcp(host, port)
    with pytest.raises(AddressRefused):
        await guard.connect_unix_socket("/run/socket")
