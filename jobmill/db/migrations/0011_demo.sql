-- The demo world: while its row is there, everything in this database is fiction.
CREATE SCHEMA demo;

CREATE TABLE demo.world (
    one      boolean PRIMARY KEY DEFAULT true CHECK (one),
    seed     bigint NOT NULL,
    began_at timestamptz NOT NULL DEFAULT now(),
    day      interval NOT NULL CHECK (day BETWEEN '50 milliseconds' AND '1 day') -- how long a day of it takes
);
