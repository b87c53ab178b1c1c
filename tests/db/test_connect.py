"""Settings of every connection, and connection strings."""

from __future__ import annotations

import asyncio

import pytest
from psycopg.conninfo import conninfo_to_dict

from jobmill.db import Database, connect, fetch_value, pipelined, redact_passwords, to_url


async def test_a_day_has_24_hours_in_every_time_zone_of_the_server(database: Database) -> None:
    async with database.transaction() as tx:
        cursor = await tx.execute("SHOW timezone")
        assert await cursor.fetchone() == ("UTC",)


async def test_a_connection_that_died_just_after_its_use_is_not_given_to_a_caller(
    database: Database,
) -> None:
    async with connect(database.url, size=1) as pool:
        async with pool.transaction() as tx:
            [backend] = await (await tx.execute("SELECT pg_backend_pid()")).fetchall()
        async with database.transaction() as tx:
            cursor = await tx.execute("SELECT pg_terminate_backend(%s, 20000)", backend)
            assert await cursor.fetchone() == (True,)
        async with pool.transaction() as tx:
            assert await (await tx.execute("SELECT 1")).fetchone() == (1,)


async def test_a_pool_that_is_closed_at_once_leaves_no_connection(database: Database) -> None:
    async with connect(database.url):
        pass
    others = """
        SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()
        """
    async with asyncio.timeout(60), database.transaction() as tx:
        # The server notices the end of a connection a moment later.
        while await fetch_value(tx, int, others):
            await tx.execute("SELECT pg_stat_clear_snapshot(), pg_sleep(0.01)")


async def test_statements_that_fill_the_socket_arrive_complete_and_in_order(
    database: Database,
) -> None:
    large = "x" * 2_000_000
    async with database.transaction() as tx:
        async with pipelined(tx):
            lengths = [await tx.execute("SELECT length(%s)", [large + "y" * n]) for n in range(3)]
            async with pipelined(tx):
                echo = await tx.execute("SELECT %s::text", [large])
        assert [await cursor.fetchone() for cursor in lengths] == [
            (len(large) + n,) for n in range(3)
        ]
        assert await echo.fetchone() == (large,)


@pytest.mark.parametrize(
    "conninfo",
    [
        "host=a,b port=1,2 dbname=x user=me target_session_attrs=read-write",
        r"host=/run/a\ b dbname=a%/?# user='m e' password='p @:/+\''",
        "host=a password=s3cret",
        "dbname=x options='-c search_path=a -c jit=off'",
        "service=jobmill",
    ],
)
def test_a_key_value_string_and_its_url_are_equivalent(conninfo: str) -> None:
    assert conninfo_to_dict(to_url(conninfo)) == conninfo_to_dict(conninfo)


def test_a_url_is_not_changed() -> None:
    assert to_url("postgres://me:s3cret@a,b/x") == "postgres://me:s3cret@a,b/x"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@/x?host=a,b&sslpassword=s3cret",
        "host=a,b dbname=x user=me password=s3cret sslpassword=s3cret",
    ],
)
def test_passwords_are_redacted_in_every_form(url: str) -> None:
    assert conninfo_to_dict(redact_passwords(url)) == {"host": "a,b", "dbname": "x", "user": "me"}
