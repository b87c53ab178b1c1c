-- The last read of a listing's own page, for listings that their source shows only in part.
CREATE TABLE catalog.listing_page (
    listing_id  bigint PRIMARY KEY REFERENCES catalog.listing ON DELETE CASCADE,
    url         text NOT NULL,                             -- the page that was read
    outcome     text NOT NULL CHECK (outcome IN ('read', 'unreadable', 'closed', 'postponed')),
    method      text,                                      -- how it was read: `json-ld`, `board:lever`, `text`
    fields      text[] NOT NULL DEFAULT '{}',              -- fields of the listing that came from the page; all others came from its source
    note        text,                                      -- why nothing was taken from it
    listed_hash uuid NOT NULL,                             -- the listing as its source showed it then: if it differs now, the page is read again
    read_at     timestamptz NOT NULL DEFAULT now()
);
-- The reads of a day are counted against the daily budget of calls.
CREATE INDEX listing_page_by_time ON catalog.listing_page (read_at) WHERE outcome <> 'postponed';
CREATE INDEX listing_page_postponed ON catalog.listing_page (listing_id) WHERE outcome = 'postponed';
