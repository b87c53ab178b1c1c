-- What people submitted (a URL or a text) and what became of it: written at once, and never lost.
CREATE TABLE catalog.submission (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key          text NOT NULL,                      -- the canonical URL, or the identity of a pasted text
    key_hash     uuid NOT NULL GENERATED ALWAYS AS (md5(key)::uuid) STORED,
    url          text,                               -- null: a pasted text
    kind         text NOT NULL CHECK (kind IN ('page', 'job', 'board', 'company', 'text')),
    state        text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'unknown')),
    reason       text,                               -- why it waits or is unknown, or what came of it
    partial      jsonb NOT NULL DEFAULT '{}',        -- what was read of a job that is unknown
    profile_id   bigint REFERENCES matching.profile ON DELETE SET NULL,
    item_id      bigint,                             -- the newest item that works on it
    listing_id   bigint REFERENCES catalog.listing ON DELETE SET NULL,
    source_id    bigint REFERENCES catalog.source ON DELETE SET NULL,
    company_id   bigint REFERENCES catalog.company ON DELETE SET NULL,
    submitted_by text,
    submitted_at timestamptz NOT NULL DEFAULT now(),
    changed_at   timestamptz NOT NULL DEFAULT now(),
    -- The same URL submitted twice, also at the same time, is one record.
    CONSTRAINT submission_once UNIQUE (key_hash),
    CHECK (state <> 'unknown' OR reason IS NOT NULL)
);
CREATE INDEX submission_unknown ON catalog.submission (id) WHERE state = 'unknown';
CREATE INDEX submission_waiting ON catalog.submission (id) WHERE state = 'waiting';
CREATE INDEX submission_listing ON catalog.submission (listing_id) WHERE listing_id IS NOT NULL;
CREATE INDEX submission_source ON catalog.submission (source_id) WHERE source_id IS NOT NULL;
CREATE INDEX submission_company ON catalog.submission (company_id) WHERE company_id IS NOT NULL;
CREATE INDEX submission_profile ON catalog.submission (profile_id) WHERE profile_id IS NOT NULL;

ALTER TABLE catalog.event DROP CONSTRAINT event_noun_check;
ALTER TABLE catalog.event ADD CONSTRAINT event_noun_check
      CHECK (noun IN ('company', 'source', 'listing', 'vendor', 'submission'));
