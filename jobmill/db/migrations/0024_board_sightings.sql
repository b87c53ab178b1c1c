-- Job boards that listings link to and that were handed to discovery, so that each is discovered once a month at most.
CREATE TABLE catalog.board_sighting (
    source_type text NOT NULL,                             -- the platform
    token       text NOT NULL,                             -- the board's name there, in lower case
    url         text NOT NULL,
    listing_id  bigint REFERENCES catalog.listing ON DELETE SET NULL,
    seen_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source_type, token)
);
CREATE INDEX board_sighting_of_listing ON catalog.board_sighting (listing_id);
