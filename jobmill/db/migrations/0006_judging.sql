-- How listings are judged for a profile, the few that fit, and what is learnt of companies on the way.

-- What a company's pages tell, and which board they lead to.
ALTER TABLE catalog.company
    ADD COLUMN offices              text[],
    ADD COLUMN remote_first         boolean,
    ADD COLUMN ai_ml                boolean,
    ADD COLUMN priority_items       jsonb,               -- what the score is made of
    ADD COLUMN extracted_by         text,                -- 'heuristics', or the model
    ADD COLUMN job_board_url        text,
    ADD COLUMN job_board_type       text,
    ADD COLUMN job_board_confidence catalog.confidence,
    ADD COLUMN job_board_evidence   text,
    ADD COLUMN job_board_decision   text CHECK (job_board_decision IN ('approved', 'rejected')),
    -- Only a board can be decided upon.
    ADD CHECK (job_board_decision IS NULL OR job_board_url IS NOT NULL);
-- Boards that wait for a person.
CREATE INDEX company_board_waits ON catalog.company (id)
    WHERE job_board_url IS NOT NULL AND job_board_decision IS NULL;

-- Pages of a company between two stages of its analysis; gone when it ends.
CREATE TABLE catalog.company_page (
    company_id bigint NOT NULL REFERENCES catalog.company ON DELETE CASCADE,
    position   int NOT NULL,                             -- in the order in which they are asked
    url        text NOT NULL,                            -- where it led
    html       text NOT NULL,
    fetched_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (company_id, position)
);

ALTER TABLE matching.profile
    ADD COLUMN paused_at timestamptz;                    -- set: new listings are not judged for it

-- Listings that are still to be judged. The row is the truth: a full queue loses nothing.
CREATE TABLE matching.waiting (
    profile_id  bigint NOT NULL REFERENCES matching.profile,
    listing_id  bigint NOT NULL REFERENCES catalog.listing ON DELETE CASCADE,
    since       timestamptz NOT NULL DEFAULT now(),
    parent_item bigint,                                  -- the item that found it, for its lineage
    PRIMARY KEY (profile_id, listing_id)
);
CREATE INDEX waiting_longest ON matching.waiting (since);

CREATE TYPE matching.outcome AS ENUM (
    'filtered',  -- a hard rejection, or too many strikes
    'skipped',   -- below the threshold
    'matched'
);

-- The newest word on a listing for a profile, also on those that were turned down.
CREATE TABLE matching.verdict (
    profile_id      bigint NOT NULL REFERENCES matching.profile,
    listing_id      bigint NOT NULL REFERENCES catalog.listing ON DELETE CASCADE,
    profile_version int NOT NULL,
    outcome         matching.outcome NOT NULL,
    score           int CHECK (score BETWEEN 0 AND 100), -- null: filtered
    local_score     int CHECK (local_score BETWEEN 0 AND 100),
    scored_by       text,                                -- 'local', or the model
    filter_result   jsonb NOT NULL,
    match_result    jsonb,
    forced          boolean NOT NULL DEFAULT false,      -- a person wanted it whatever the filter says
    item            bigint,                              -- of the queue, which forgets it sooner
    judged_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (profile_id, listing_id),
    FOREIGN KEY (profile_id, profile_version) REFERENCES matching.profile_version,
    CHECK ((score IS NULL) = (match_result IS NULL))
);
CREATE INDEX verdict_of_listing ON matching.verdict (listing_id);

CREATE TYPE matching.match_status AS ENUM (
    'new', 'saved', 'applied', 'interviewing', 'offer', 'rejected', 'dismissed'
);

-- The few that fit. What a person said of one stays, whatever is judged later.
CREATE TABLE matching.match (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    profile_id           bigint NOT NULL REFERENCES matching.profile,
    listing_id           bigint NOT NULL REFERENCES catalog.listing ON DELETE CASCADE,
    company_id           bigint REFERENCES catalog.company,
    profile_version      int NOT NULL,
    match_score          int NOT NULL CHECK (match_score BETWEEN 0 AND 100),
    application_priority text NOT NULL CHECK (application_priority IN ('High', 'Medium', 'Low')),
    matched_skills       text[] NOT NULL,
    skill_gaps           text[] NOT NULL,
    resume_intake        jsonb NOT NULL,
    items                jsonb NOT NULL,                 -- what the score is made of, with the words
    scored_by            text NOT NULL,
    scrape_method        text,
    status               matching.match_status NOT NULL DEFAULT 'new',
    status_at            timestamptz NOT NULL DEFAULT now(),
    status_by            text,
    note                 text,
    dropped_at           timestamptz,                    -- it fits no longer, and nobody had touched it
    created_at           timestamptz NOT NULL DEFAULT now(),
    updated_at           timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT match_once UNIQUE (profile_id, listing_id),
    FOREIGN KEY (profile_id, profile_version) REFERENCES matching.profile_version,
    -- Only what nobody touched can drop out.
    CHECK (dropped_at IS NULL OR status = 'new')
);
CREATE INDEX match_best ON matching.match (profile_id, match_score DESC, id DESC) WHERE dropped_at IS NULL;
CREATE INDEX match_of_listing ON matching.match (listing_id);

CREATE TABLE matching.event (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at       timestamptz NOT NULL DEFAULT now(),
    match_id bigint NOT NULL REFERENCES matching.match ON DELETE CASCADE,
    what     text NOT NULL,
    data     jsonb NOT NULL DEFAULT '{}',
    actor    text
);
CREATE INDEX event_of_match ON matching.event (match_id, id);

-- What a listing means, as numbers: computed once for its text.
CREATE TABLE matching.vector (
    listing_id bigint PRIMARY KEY REFERENCES catalog.listing ON DELETE CASCADE,
    model      text NOT NULL,
    text_hash  uuid NOT NULL,
    vector     bytea NOT NULL                            -- float32, little-endian, length 1
);
