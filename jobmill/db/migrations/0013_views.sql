-- Views: filters of the inbox that somebody gave a name. A row says who made and who removed it; what was removed
-- stays for a while, so that it can be taken back.
CREATE TABLE matching.view (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    profile_id  bigint NOT NULL REFERENCES matching.profile ON DELETE CASCADE,
    name        text NOT NULL CHECK (name = btrim(name) AND length(name) BETWEEN 1 AND 60),
    status      matching.match_status,                   -- null: all but those that were dismissed
    least_score int CHECK (least_score BETWEEN 0 AND 100),
    arrangement text CHECK (arrangement IN ('remote', 'hybrid', 'onsite')),
    words       text CHECK (length(words) <= 200),
    newest      boolean NOT NULL DEFAULT false,          -- the newest first, not the best
    made_at     timestamptz NOT NULL DEFAULT now(),
    made_by     text,
    removed_at  timestamptz,
    removed_by  text
);
-- Of those that stand, no two of a profile have the same name.
CREATE UNIQUE INDEX view_name ON matching.view (profile_id, lower(name)) WHERE removed_at IS NULL;

-- Lists that stay quick with a million listings and hundreds of thousands of matches.
CREATE INDEX match_newest ON matching.match (profile_id, created_at DESC, id DESC) WHERE dropped_at IS NULL;
CREATE INDEX match_best_of_status ON matching.match (profile_id, status, match_score DESC, id DESC) WHERE dropped_at IS NULL;
CREATE INDEX match_newest_of_status ON matching.match (profile_id, status, created_at DESC, id DESC) WHERE dropped_at IS NULL;

-- A company or a place is found by the beginnings of its words, in any order.
CREATE FUNCTION catalog.company_words(company text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN to_tsvector('simple', left(company, 1000));
CREATE FUNCTION catalog.place_words(location text, locations text[]) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_tsvector('simple', left(coalesce(location, '') || ' ' || array_to_string(locations, ' '), 10000));
-- Null where there is no word in it, which finds nothing.
CREATE FUNCTION catalog.beginnings(words text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN (SELECT string_agg(quote_literal(lexeme) || ':*', ' & ')::tsquery
              FROM unnest(to_tsvector('simple', words)));
CREATE INDEX listing_company ON catalog.listing USING gin (catalog.company_words(company));
CREATE INDEX listing_place ON catalog.listing USING gin (catalog.place_words(location, locations));
