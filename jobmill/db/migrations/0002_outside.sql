-- What all workers must agree on when they talk to somebody else's server.

CREATE SCHEMA outside;

CREATE TABLE outside.host (
    name        text PRIMARY KEY,                   -- lower case; with a port only where it is not the usual one
    turn_at     timestamptz NOT NULL,               -- when the latest turn begins; it may lie ahead
    flights     timestamptz[] NOT NULL,             -- one for each turn not ended: until then it counts
    held_until  timestamptz,                        -- nobody begins before
    failures    smallint NOT NULL DEFAULT 0,        -- one after the other, without a success between
    crawl_delay interval NOT NULL DEFAULT '0',      -- what its robots.txt asks for
    CHECK (name = lower(name)),
    CHECK (failures BETWEEN 0 AND 20)
) WITH (
    -- Updated twice a call, in no indexed column.
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000
);

CREATE TABLE outside.robots (
    origin     text PRIMARY KEY,                    -- scheme://host[:port]
    rules      text NOT NULL,                       -- empty: all is allowed
    read_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL
);
