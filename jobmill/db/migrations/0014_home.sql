-- Whoever has ended a demo goes on with their own: their empty database begins no other by itself.
CREATE TABLE demo.ended (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    at  timestamptz NOT NULL DEFAULT now()
);

-- What needs somebody is counted on the first page, among however many sources.
CREATE INDEX source_status ON catalog.source (status, id);
