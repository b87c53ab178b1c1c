-- Rotation: which sources are called next, what each call brought, and what that taught.
CREATE SCHEMA rotation;

CREATE TYPE rotation.kind AS ENUM (
    'company',  -- a board: a whole answer names all that is open
    'slice'     -- a search or a feed: it shows the newest
);
CREATE TYPE rotation.status AS ENUM (
    'active',
    'paused',   -- by a person
    'bad'       -- too many failures: tried again, rarely
);
CREATE TYPE rotation.answer AS ENUM ('ok', 'not_modified', 'gone', 'rate_limited', 'error');

-- One look at what is due; its calls name it.
CREATE TABLE rotation.run (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    trigger    text NOT NULL CHECK (trigger IN ('schedule', 'manual')),
    policy     text NOT NULL CHECK (policy IN ('seed', 'yield')),
    started_at timestamptz NOT NULL DEFAULT now(),
    chosen     int NOT NULL,
    skipped    jsonb NOT NULL                             -- platforms that were passed over, and why
);

CREATE TABLE rotation.target (
    source_id              bigint PRIMARY KEY REFERENCES catalog.source ON DELETE CASCADE,
    kind                   rotation.kind NOT NULL,
    platform               text NOT NULL,
    status                 rotation.status NOT NULL DEFAULT 'active',
    enabled                boolean NOT NULL DEFAULT true, -- as its source is
    priority               int NOT NULL DEFAULT 100,      -- lower comes first
    page_cap               int CHECK (page_cap > 0),      -- it never shows more
    known_at               timestamptz NOT NULL DEFAULT now(),
    last_called_at         timestamptz,
    -- A claim; it is void after some hours, should its item be lost.
    queued_at              timestamptz,
    run_id                 bigint,                        -- the run that claimed it last
    -- What the policy `seed` goes by.
    min_interval           interval NOT NULL CHECK (min_interval > interval '0'),
    next_allowed_at        timestamptz,
    last_success_at        timestamptz,
    fail_count             int NOT NULL DEFAULT 0,
    new_jobs_last          int,
    consecutive_empty_runs int NOT NULL DEFAULT 0,
    -- What the policy `yield` goes by.
    found                  float8 NOT NULL DEFAULT 0,
    looked                 float8 NOT NULL DEFAULT 0,
    shown                  float8 NOT NULL DEFAULT 0,
    shown_days             float8 NOT NULL DEFAULT 0,
    span                   float8,
    rho                    float8,                        -- new listings a day
    d                      float8,                        -- the share of them that is lost a day
    health                 float8 NOT NULL DEFAULT 1,
    failures               int NOT NULL DEFAULT 0,
    last_ok_at             timestamptz,
    gate_at                timestamptz,                   -- not before
    due_at                 timestamptz NOT NULL DEFAULT now(), -- worth a call, or owed one
    price                  float8 NOT NULL DEFAULT 0      -- at which that was so
);
-- Each order that targets are chosen in has its index, so that a look costs the same however many there are.
CREATE INDEX target_due ON rotation.target (platform, due_at)
    WHERE status = 'active' AND enabled AND rho IS NOT NULL;
CREATE INDEX target_price ON rotation.target (price)
    WHERE status = 'active' AND enabled AND rho IS NOT NULL;
CREATE INDEX target_new ON rotation.target (platform, priority, due_at)
    WHERE status = 'active' AND enabled AND rho IS NULL;
CREATE INDEX target_waits ON rotation.target (platform, greatest(known_at, last_called_at))
    WHERE status = 'active' AND enabled;
CREATE INDEX target_turn ON rotation.target (platform, priority, last_success_at NULLS FIRST, source_id)
    WHERE status = 'active' AND enabled;
CREATE INDEX target_slice_turn ON rotation.target (platform, last_success_at NULLS FIRST, priority, source_id)
    WHERE status = 'active' AND enabled AND kind = 'slice';
CREATE INDEX target_platform ON rotation.target (platform);
CREATE INDEX target_bad ON rotation.target (next_allowed_at) WHERE status = 'bad';
CREATE INDEX target_queued ON rotation.target (platform, queued_at) WHERE queued_at IS NOT NULL;

-- What all targets of a platform have shown together, what keeps it from being called, and its limits.
CREATE TABLE rotation.platform (
    name       text PRIMARY KEY,
    per_hour   int CHECK (per_hour >= 0),
    per_day    int CHECK (per_day >= 0),
    found      float8 NOT NULL DEFAULT 0,
    looked     float8 NOT NULL DEFAULT 0,
    shown      float8 NOT NULL DEFAULT 0,
    shown_days float8 NOT NULL DEFAULT 0,
    pooled_at  timestamptz,
    streak     int NOT NULL DEFAULT 0,                    -- errors in a row
    opened     int NOT NULL DEFAULT 0,                    -- how often in a row it was left alone for them
    shut_until timestamptz,
    shut_at    timestamptz,
    probe_at   timestamptz,                               -- when one was let through to see whether it is well
    held       int NOT NULL DEFAULT 0                     -- requests to slow down in a row
);

-- How fast calls are made; whoever chooses holds the row.
CREATE TABLE rotation.pace (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    price       float8 NOT NULL DEFAULT 1 CHECK (price > 0), -- new listings that a call must be worth
    saved       float8 NOT NULL DEFAULT 0,                -- calls that may be made
    saved_at    timestamptz NOT NULL DEFAULT now(),
    owed        float8 NOT NULL DEFAULT 0                 -- calls that are due to those that waited too long
);
INSERT INTO rotation.pace DEFAULT VALUES;

-- Who has asked the same question last.
CREATE TABLE rotation.signature (
    key       bytea PRIMARY KEY CHECK (length(key) = 32), -- sha256
    signature text NOT NULL,
    source_id bigint NOT NULL REFERENCES catalog.source ON DELETE CASCADE,
    item      bigint,                                     -- the item that asks; asking again is its right
    called_at timestamptz NOT NULL
);
CREATE INDEX signature_source ON rotation.signature (source_id);
CREATE INDEX signature_old ON rotation.signature (called_at);

-- Every call: one run of one target, with its pages.
CREATE TABLE rotation.call (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id    bigint NOT NULL REFERENCES catalog.source ON DELETE CASCADE,
    platform     text NOT NULL,
    run_id       bigint REFERENCES rotation.run ON DELETE SET NULL, -- null: somebody ran the source by hand
    signature    text NOT NULL,
    key          bytea NOT NULL,
    called_at    timestamptz NOT NULL,
    answer       rotation.answer NOT NULL,
    detail       text,
    requests     int NOT NULL,                            -- pages and details
    result_count int NOT NULL,
    new          int NOT NULL,                            -- after duplicates
    duplicates   int NOT NULL
);
CREATE INDEX call_of_platform ON rotation.call (platform, called_at);
CREATE INDEX call_of_source ON rotation.call (source_id, called_at DESC);
CREATE INDEX call_of_run ON rotation.call (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX call_age ON rotation.call (called_at);

-- What a person looks for; each pair of keywords and place is a slice.
CREATE TABLE rotation.search (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    platform   text NOT NULL,
    keywords   text[] NOT NULL CHECK (cardinality(keywords) > 0),
    locations  text[] NOT NULL CHECK (cardinality(locations) > 0),
    priority   int NOT NULL DEFAULT 50 CHECK (priority BETWEEN 0 AND 100), -- higher comes first
    enabled    boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT search_once UNIQUE (platform, keywords, locations)
);
CREATE TABLE rotation.search_slice (
    search_id bigint NOT NULL REFERENCES rotation.search ON DELETE CASCADE,
    source_id bigint NOT NULL REFERENCES catalog.source ON DELETE CASCADE,
    PRIMARY KEY (search_id, source_id)
);
CREATE INDEX search_slice_source ON rotation.search_slice (source_id);

-- Sources that came, or may run now and might not before, or the other way round: the next run looks at them.
CREATE TABLE rotation.changed (
    source_id bigint PRIMARY KEY REFERENCES catalog.source ON DELETE CASCADE
);
INSERT INTO rotation.changed SELECT id FROM catalog.source
 WHERE status = 'active' OR retry_at IS NOT NULL;

CREATE FUNCTION rotation.note_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO rotation.changed VALUES (new.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER source_came AFTER INSERT ON catalog.source
    FOR EACH ROW WHEN (new.status = 'active') EXECUTE FUNCTION rotation.note_source();
CREATE TRIGGER source_turned AFTER UPDATE OF status ON catalog.source
    FOR EACH ROW WHEN (old.status IS DISTINCT FROM new.status) EXECUTE FUNCTION rotation.note_source();
