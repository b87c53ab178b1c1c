-- One row while this machine is offline: no host name can be resolved.
CREATE TABLE outside.offline (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    since      timestamptz NOT NULL DEFAULT now(),
    retry_at   timestamptz NOT NULL
);
