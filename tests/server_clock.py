"""Simulates a database server with another clock than this process, as on two hosts."""

from __future__ import annotations

import datetime as dt

import psycopg
from psycopg import sql

SHIFT = """
CREATE SCHEMA shifted;
CREATE FUNCTION shifted.now() RETURNS timestamptz STABLE LANGUAGE sql
    RETURN pg_catalog.now() + {ahead}::interval;
CREATE FUNCTION shifted.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
    RETURN pg_catalog.clock_timestamp() + {ahead}::interval;
ALTER DATABASE {database} SET search_path = shifted, pg_catalog, public;
"""

COLUMN_DEFAULTS = """
SELECT format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s',
              adrelid::regclass, attname, pg_get_expr(adbin, adrelid))
  FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
 WHERE attgenerated = '' AND pg_get_expr(adbin, adrelid) ~ '\\m(now|clock_timestamp)\\(\\)'
"""


def shift(url: str, ahead: dt.timedelta) -> None:
    """Make now() and clock_timestamp() of this database, also in defaults, differ from the local clock."""
    with psycopg.connect(url, autocommit=True) as connection:
        names = {
            "ahead": sql.Literal(f"{ahead.total_seconds()} seconds"),
            "database": sql.Identifier(connection.info.dbname),
        }
        connection.execute(sql.SQL(SHIFT).format(**names))
        # PostgreSQL bound the defaults to its built-in functions when the tables were created.
        changes = connection.execute(COLUMN_DEFAULTS).fetchall()
        connection.execute("SET search_path = shifted, pg_catalog, public")
        for (change,) in changes:
            connection.execute(change)
