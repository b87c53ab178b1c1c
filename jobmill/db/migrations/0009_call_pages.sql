-- What each page of a call asked for; a page is asked for once in a run.
CREATE TABLE rotation.call_page (
    call_id      bigint NOT NULL REFERENCES rotation.call ON DELETE CASCADE,
    number       int NOT NULL,                            -- the first is 1
    signature    text NOT NULL,
    key          bytea NOT NULL CHECK (length(key) = 32), -- sha256
    result_count int,                                     -- null: it was not answered
    PRIMARY KEY (call_id, key)
);

ALTER TABLE rotation.target
    ADD COLUMN held text;                                 -- why its last turn came to no call
CREATE INDEX target_held ON rotation.target (run_id) WHERE held IS NOT NULL;
