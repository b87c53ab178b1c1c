-- What language models cost: one row a call, written before the call, and answers that need not be
-- paid twice.

CREATE SCHEMA budget;

CREATE TYPE budget.outcome AS ENUM (
    'answered',
    'cached',     -- an answer from before: nobody was asked
    'malformed',  -- an answer that is not of the form asked for
    'truncated',
    'refused',
    'failed'      -- no answer; a null cost says that nobody knows whether it was billed
);

-- Whoever reserves locks this one row first, so that two who count at once cannot both be right.
CREATE TABLE budget.purse (
    one boolean PRIMARY KEY DEFAULT true CHECK (one)
);
INSERT INTO budget.purse VALUES (true);

CREATE TABLE budget.call (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at             timestamptz NOT NULL DEFAULT now(),  -- reserved; the day and month it counts in
    ends_at        timestamptz NOT NULL,                -- no answer can come after that
    settled_at     timestamptz,
    model          text NOT NULL,
    tier           text NOT NULL CHECK (tier IN ('cheap', 'strong')),
    purpose        text NOT NULL,
    prompt_version text NOT NULL,
    item           bigint,                              -- of the queue, which forgets it sooner
    run            text,                                -- its lineage
    cache_hit      boolean NOT NULL DEFAULT false,
    reserved       numeric NOT NULL CHECK (reserved >= 0),  -- the most it can cost, in US dollars
    tokens_in      int,
    tokens_out     int,
    cost           numeric CHECK (cost >= 0),           -- null while and if nobody knows
    outcome        budget.outcome,
    -- What nobody knows counts in full, for ever: a provider bills also those who crash.
    counted        numeric NOT NULL GENERATED ALWAYS AS (coalesce(cost, reserved)) STORED,
    CONSTRAINT settled_with_an_outcome CHECK ((settled_at IS NULL) = (outcome IS NULL))
);
CREATE INDEX call_counted ON budget.call (at) INCLUDE (counted) WHERE counted > 0;
CREATE INDEX call_run ON budget.call (run) INCLUDE (counted) WHERE run IS NOT NULL AND counted > 0;
CREATE INDEX call_open ON budget.call (at) WHERE settled_at IS NULL;
CREATE INDEX call_at ON budget.call (at);

CREATE TABLE budget.answer (
    key        bytea PRIMARY KEY,   -- of what was asked, of whom and in which form
    model      text NOT NULL,
    answer     text NOT NULL,       -- JSON as it was written: jsonb holds no NUL
    created_at timestamptz NOT NULL DEFAULT now()
);
