-- Pages that read what they show and no more, beside a million listings and a million calls.

-- What the calls of an hour brought, kept by the transaction that keeps a call. A row has one writer at a time, by
-- its connection: nobody waits for another who saves calls of the same platform.
CREATE TABLE rotation.spell (
    began_at   timestamptz NOT NULL,                      -- the hour, in UTC
    platform   text NOT NULL,
    writer     int NOT NULL,
    calls      int NOT NULL,
    results    int NOT NULL,
    new        int NOT NULL,
    duplicates int NOT NULL,
    wasted     int NOT NULL,                              -- calls that brought nothing new
    failed     int NOT NULL,
    requests   int NOT NULL,
    PRIMARY KEY (began_at, platform, writer)
) WITH (fillfactor = 70);

CREATE FUNCTION rotation.add_to_spell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO rotation.spell AS kept
    SELECT date_trunc('hour', called_at, 'UTC'), platform, pg_backend_pid(), count(*), sum(result_count),
           sum(added.new), sum(duplicates), count(*) FILTER (WHERE added.new = 0),
           count(*) FILTER (WHERE answer IN ('gone', 'error')), sum(requests)
      FROM added GROUP BY 1, 2
    ON CONFLICT (began_at, platform, writer) DO UPDATE
       SET calls = kept.calls + excluded.calls, results = kept.results + excluded.results,
           new = kept.new + excluded.new, duplicates = kept.duplicates + excluded.duplicates,
           wasted = kept.wasted + excluded.wasted, failed = kept.failed + excluded.failed,
           requests = kept.requests + excluded.requests;
    RETURN NULL;
END $$;
CREATE TRIGGER spell AFTER INSERT ON rotation.call
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION rotation.add_to_spell();
INSERT INTO rotation.spell
SELECT date_trunc('hour', called_at, 'UTC'), platform, 0, count(*), sum(result_count), sum(new), sum(duplicates),
       count(*) FILTER (WHERE new = 0), count(*) FILTER (WHERE answer IN ('gone', 'error')), sum(requests)
  FROM rotation.call GROUP BY 1, 2;

-- How many requests a platform had of late, by the index alone.
DROP INDEX rotation.call_of_platform;
CREATE INDEX call_of_platform ON rotation.call (platform, called_at) INCLUDE (requests);
-- Calls that brought something: which sources brought most.
CREATE INDEX call_fruitful ON rotation.call (called_at) INCLUDE (source_id, new) WHERE new > 0;
-- Listings that repeat no other: how many each platform found.
CREATE INDEX listing_unique ON catalog.listing (first_seen_at) INCLUDE (source_id) WHERE duplicate_of IS NULL;

-- Lists of targets, in the order of their sources.
CREATE INDEX target_of_status ON rotation.target (status, source_id);
CREATE INDEX target_of_platform ON rotation.target (platform, source_id);
DROP INDEX rotation.target_platform;

-- A log without its words: what a replay and a summary fold, a tenth of what the rows hold.
CREATE INDEX event_folded ON hiring.event (opening_id, seq)
    INCLUDE (application_id, type, from_status, to_status, queue_key, deadline, created_at);

-- The best companies first, and sources that run but whose last run was odd.
CREATE INDEX company_best ON catalog.company (coalesce(priority_score, -1) DESC, id DESC) INCLUDE (name);
CREATE INDEX source_troubled ON catalog.source (id) WHERE status = 'active' AND last_cause IS NOT NULL;
-- What a match cost, by how many there were in the last days.
CREATE INDEX match_created ON matching.match (created_at);
