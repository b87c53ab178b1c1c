-- What is out there: companies, the sources that name their listings, and the listings.
-- A row is created with what identifies it; what only analysis can tell stays null until then.

CREATE SCHEMA catalog;

CREATE TYPE catalog.confidence AS ENUM ('high', 'medium', 'low');

CREATE TYPE catalog.analysis AS ENUM (
    'pending',    -- known by name only
    'analyzing',
    'complete',
    'sparse',     -- analysed, too little found
    'failed'
);

CREATE TABLE catalog.company (
    id                    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name                  text NOT NULL CHECK (name <> ''),
    key                   text NOT NULL CHECK (key <> ''),   -- the name, folded: for finding it again
    website               text,
    domain                text,
    analysis_status       catalog.analysis NOT NULL DEFAULT 'pending',
    about                 text,
    culture               text,
    mission               text,
    size                  text,
    company_size_category text CHECK (company_size_category IN ('large', 'medium', 'small')),
    headquarters_location text,
    industry              text,
    founded               text,
    tech_stack            text[],
    tier                  text CHECK (tier IN ('S', 'A', 'B', 'C', 'D')),
    priority_score        int,
    analyzed_at           timestamptz,
    created_at            timestamptz NOT NULL DEFAULT now(),
    updated_at            timestamptz NOT NULL DEFAULT now(),
    -- Two firms may share a name; then their sites tell them apart.
    CONSTRAINT company_once UNIQUE NULLS NOT DISTINCT (key, domain)
);
CREATE INDEX company_domain ON catalog.company (domain);

CREATE TYPE catalog.source_status AS ENUM (
    'pending_validation',  -- waits for a test or for a person
    'active',
    'disabled',
    'rejected'
);

CREATE TABLE catalog.source (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name                 text NOT NULL,
    source_type          text NOT NULL,                -- the platform
    token                text NOT NULL,                -- the board on it
    config               jsonb NOT NULL,
    url                  text,                         -- the board's page for people
    domain               text,                         -- of that page
    status               catalog.source_status NOT NULL,
    company_id           bigint REFERENCES catalog.company,
    company_name         text,
    relation             text NOT NULL DEFAULT 'own' CHECK (relation IN ('own', 'group')),
    discovered_via       text NOT NULL CHECK (discovered_via IN ('user_submission', 'automated_scan', 'company_analysis', 'import')),
    discovered_by        text,
    discovered_at        timestamptz NOT NULL DEFAULT now(),
    discovery_confidence catalog.confidence,
    evidence             text,
    validation_required  boolean NOT NULL DEFAULT false,
    tested_at            timestamptz,                  -- the last test or run that worked
    allow_empty          boolean NOT NULL DEFAULT false, -- one empty answer is believed
    consecutive_failures int NOT NULL DEFAULT 0,
    empty_runs           int NOT NULL DEFAULT 0,       -- in a row, after it had postings
    last_scraped_at      timestamptz,
    last_scraped_status  text,
    last_cause           text,
    last_detail          text,
    last_run_started_at  timestamptz,                  -- of the newest run that was saved
    disabled_reason      text,
    retry_at             timestamptz,                  -- when a source that was disabled by failures is tried again
    etag                 text,
    last_modified        text,
    validators_url       text,                         -- whose validators they are
    created_at           timestamptz NOT NULL DEFAULT now(),
    updated_at           timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT source_once UNIQUE (source_type, token),
    CHECK ((status = 'disabled') = (disabled_reason IS NOT NULL))
);
CREATE INDEX source_company ON catalog.source (company_id);
CREATE INDEX source_domain ON catalog.source (domain);

-- One vendor's trouble is one incident: its sources are held, not disabled one by one.
CREATE TABLE catalog.incident (
    vendor     text PRIMARY KEY,
    cause      text NOT NULL,
    detail     text NOT NULL,
    since      timestamptz NOT NULL DEFAULT now(),
    held_until timestamptz NOT NULL,
    holds      int NOT NULL DEFAULT 1                  -- each longer than the last
);

CREATE TYPE catalog.outcome AS ENUM (
    'complete',   -- all there is was seen: what was not seen is closed
    'unchanged',  -- the site says so
    'empty',      -- no posting where there were some: not believed yet
    'partial',    -- some was seen, then it failed
    'truncated',  -- there is more than we were shown
    'held',       -- not the source's fault: rate limit or incident
    'failed'
);

CREATE TABLE catalog.run (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id  bigint NOT NULL REFERENCES catalog.source ON DELETE CASCADE,
    vendor     text,
    started_at timestamptz NOT NULL,
    ended_at   timestamptz NOT NULL DEFAULT now(),
    outcome    catalog.outcome NOT NULL,
    cause      text,
    detail     text,
    counted    boolean NOT NULL DEFAULT false,         -- as one of the source's failures
    calls      int NOT NULL DEFAULT 0,
    seen       int NOT NULL DEFAULT 0,
    added      int NOT NULL DEFAULT 0,
    changed    int NOT NULL DEFAULT 0,
    closed     int NOT NULL DEFAULT 0,
    reopened   int NOT NULL DEFAULT 0,
    duplicates int NOT NULL DEFAULT 0,
    -- What a run saw, or failed of, counts once.
    CONSTRAINT run_once UNIQUE (source_id, started_at)
);
CREATE INDEX run_of_source ON catalog.run (source_id, id DESC);
CREATE INDEX run_of_vendor ON catalog.run (vendor, ended_at) WHERE vendor IS NOT NULL;

-- Words that the text search would cut to pieces.
CREATE FUNCTION catalog.searchable(words text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN regexp_replace(regexp_replace(regexp_replace(words,
        '\mc\+\+', ' cplusplus ', 'gi'), '\m([cf])#', ' \1sharp ', 'gi'), '\.net\M', ' dotnet ', 'gi');

CREATE TABLE catalog.listing (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id       bigint REFERENCES catalog.source ON DELETE SET NULL,
    company_id      bigint REFERENCES catalog.company,
    identity        text NOT NULL,                     -- platform, board and vendor id, else the canonical URL
    identity_hash   uuid NOT NULL GENERATED ALWAYS AS (md5(identity)::uuid) STORED,
    url             text NOT NULL,
    url_hash        uuid NOT NULL,                     -- md5 of the canonical URL
    title           text CHECK (length(title) <= 500),
    company         text,
    location        text,
    locations       text[] NOT NULL DEFAULT '{}',
    arrangement     text CHECK (arrangement IN ('remote', 'hybrid', 'onsite')),
    remote_from     text[] NOT NULL DEFAULT '{}',
    department      text,
    employment_type text,
    seniority       text,
    posted_at       timestamptz,
    site_updated_at timestamptz,
    valid_through   timestamptz,
    salary_min      float8,
    salary_max      float8,
    salary_currency text,
    salary_period   text,
    salary_known    text,
    description     text,
    requirements    text,
    apply_url       text,
    platform        text,
    board           text,
    vendor_id       text,
    requisition_id  text,
    language        text,
    tags            text[] NOT NULL DEFAULT '{}',
    via             text,
    partial         boolean NOT NULL DEFAULT false,
    listed_hash     uuid NOT NULL,                     -- of the posting as the list showed it: is its detail still good?
    fingerprint     uuid,                              -- of its content: finds reposts
    first_seen_at   timestamptz NOT NULL,
    last_seen_at    timestamptz NOT NULL,
    changed_at      timestamptz NOT NULL,
    closed_at       timestamptz,                       -- null: open
    marked_at       timestamptz,                       -- a person has marked it: never removed
    duplicate_of    bigint REFERENCES catalog.listing,
    duplicate_kind  text CHECK (duplicate_kind IN ('same', 'multi_location', 'repost')),
    duplicate_why   text,
    apart           boolean NOT NULL DEFAULT false,    -- a person says it is no duplicate
    search          tsvector GENERATED ALWAYS AS (
        setweight(to_tsvector('english', catalog.searchable(coalesce(title, ''))), 'A') ||
        setweight(to_tsvector('english', catalog.searchable(left(coalesce(company, ''), 1000) || ' ' || left(coalesce(location, ''), 10000))), 'B') ||
        setweight(to_tsvector('english', catalog.searchable(left(coalesce(description, ''), 100000))), 'D')
    ) STORED,
    CONSTRAINT listing_once UNIQUE (identity_hash),
    -- Links have one level: what others are linked to is linked to nothing.
    CHECK (duplicate_of <> id),
    CHECK ((duplicate_of IS NULL) = (duplicate_kind IS NULL))
) WITH (fillfactor = 85);
-- Not by last_seen_at: a listing seen again unchanged must touch no index.
CREATE INDEX listing_of_source ON catalog.listing (source_id) WHERE closed_at IS NULL;
CREATE INDEX listing_url ON catalog.listing (url_hash);
CREATE INDEX listing_fingerprint ON catalog.listing (fingerprint);
CREATE INDEX listing_title ON catalog.listing (company_id, lower(title));
CREATE INDEX listing_newest ON catalog.listing (first_seen_at DESC, id DESC);
CREATE INDEX listing_closed ON catalog.listing (closed_at) WHERE closed_at IS NOT NULL AND marked_at IS NULL;
CREATE INDEX listing_search ON catalog.listing USING gin (search);
CREATE INDEX listing_duplicates ON catalog.listing (duplicate_of) WHERE duplicate_of IS NOT NULL;
CREATE INDEX listing_requisition ON catalog.listing (platform, board, requisition_id) WHERE requisition_id IS NOT NULL;

-- What happened to companies, sources and listings: the changes of a listing, with what it said before.
CREATE TABLE catalog.event (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT now(),
    noun    text NOT NULL CHECK (noun IN ('company', 'source', 'listing', 'vendor')),
    noun_id text NOT NULL,
    what    text NOT NULL,
    data    jsonb NOT NULL DEFAULT '{}',
    actor   text
);
CREATE INDEX event_of ON catalog.event (noun, noun_id, id);
