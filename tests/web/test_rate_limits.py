from __future__ import annotations

from collections.abc import Callable

import pytest
from fastapi import APIRouter

from jobmill.db import Database
from jobmill.errors import RateLimited
from jobmill.web.client_address import rate_limit_network
from jobmill.web.rate_limits import MAX_KEYS, Public, RateLimit
from tests.people.helpers import bearer, make_applicant
from tests.web.helpers import site_with, status_and_code

router = APIRouter(prefix="/api/try")


@router.get("/one/{id}")
async def one(id: int, visitor: Public) -> int:
    return id


@router.get("/two")
async def two(visitor: Public) -> int:
    return 2


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def waits(act: Callable[[], None]) -> int | None:
    try:
        act()
    except RateLimited as error:
        return error.retry_after
    return None


def test_a_rate_limit_allows_a_burst_and_then_refills() -> None:
    clock = Clock()
    limit = RateLimit(6, clock)
    assert [waits(lambda: limit.take("a")) for _ in range(7)] == [*[None] * 6, 10]
    clock.now += 4
    assert waits(lambda: limit.take("a")) == 6
    clock.now += 6
    assert [waits(lambda: limit.take("a")) for _ in range(2)] == [None, 10]
    clock.now += 3_600
    assert [waits(lambda: limit.take("a")) for _ in range(7)] == [*[None] * 6, 10]


def test_rate_limit_keys_are_independent() -> None:
    limit = RateLimit(1, Clock())
    limit.take("a")
    limit.take("b")
    with pytest.raises(RateLimited):
        limit.take("a")


def test_the_number_of_keys_is_bounded_and_busy_keys_are_kept() -> None:
    limit = RateLimit(1, Clock())
    limit.take("busy")
    for n in range(MAX_KEYS + 100):
        limit.take(str(n))
        if n % 1_000 == 0:
            assert waits(lambda: limit.take("busy"))
    limit.take("new")
    assert waits(lambda: limit.take("new"))
    assert len(limit._buckets) == MAX_KEYS  # pyright: ignore[reportPrivateUsage]
    assert waits(lambda: limit.take("busy"))


async def test_anonymous_visitors_and_applicants_are_limited_per_route_and_staff_is_not(
    database: Database,
) -> None:
    _, token = await make_applicant(database)
    async with site_with(database, router, public_per_minute=3) as client:
        for n in range(3):
            assert (await client.get(f"/api/try/one/{n}")).status_code == 200
        for headers in ({}, {"Authorization": f"Link {token}"}):
            answer = await client.get("/api/try/one/9", headers=headers)
            assert status_and_code(answer) == (429, "RATE_LIMITED")
            assert 0 < int(answer.headers["retry-after"]) <= 20
        assert (await client.get("/api/try/two")).status_code == 200
        viewer = await bearer(database, "viewer")
        for _ in range(5):
            assert (await client.get("/api/try/one/9", headers=viewer)).status_code == 200


async def test_local_requests_are_not_limited(database: Database) -> None:
    async with site_with(database, router, public_per_minute=1, local=True) as client:
        for _ in range(4):
            assert (await client.get("/api/try/two")).status_code == 200


async def test_only_trusted_proxies_may_set_the_client_address(database: Database) -> None:
    async def statuses(proxies: list[str], *forwarded: str) -> list[int]:
        async with site_with(database, router, public_per_minute=1, proxies=proxies) as client:
            return [
                (await client.get("/api/try/two", headers={"X-Forwarded-For": address})).status_code
                for address in forwarded
            ]

    both = ("203.0.113.1", "203.0.113.2")
    assert await statuses([], *both) == [200, 429]
    assert await statuses(["198.51.100.0/24"], *both) == [200, 429]
    assert await statuses(["127.0.0.1"], *both, both[0]) == [200, 200, 429]
    # The proxy adds only the last hop; the client can forge the others.
    assert await statuses(["127.0.0.1"], "192.0.2.1, 203.0.113.1", "192.0.2.2, 203.0.113.1") == [
        200,
        429,
    ]
    behind = ("203.0.113.1, 127.0.0.9", "203.0.113.2, 127.0.0.9")
    assert await statuses(["127.0.0.0/8"], *behind) == [200, 200]
    assert await statuses(["127.0.0.1"], "::ffff:203.0.113.1", "203.0.113.1") == [200, 429]
    assert await statuses(["127.0.0.1"], "nonsense", "other nonsense") == [200, 429]


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("203.0.113.1", "203.0.113.1"),
        ("2001:db8:1:2:3::9", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.1", "203.0.113.1"),
        ("", ""),
        ("nonsense", "nonsense"),
    ],
)
def test_ipv6_clients_are_counted_by_network(address: str, counted: str) -> None:
    assert rate_limit_network(address) == counted
