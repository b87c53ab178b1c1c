-- Tables are named for what they hold.
ALTER TABLE queue.pace RENAME TO start_rate;
ALTER TABLE queue.tally RENAME TO run_counter;
ALTER TABLE budget.purse RENAME TO allowance;
ALTER TABLE matching.waiting RENAME TO judging_queue;
ALTER TABLE hiring.stretch RENAME TO waitlist_block;
ALTER TABLE hiring.answer RENAME TO idempotent_response;
ALTER TABLE hiring.vacated RENAME TO vacated_place;
ALTER TABLE hiring.blocked RENAME TO blocklist;
ALTER TABLE rotation.pace RENAME TO call_allowance;
ALTER TABLE rotation.changed RENAME TO changed_source;
ALTER TABLE rotation.spell RENAME TO hourly_calls;
ALTER TABLE hiring.waitlist_block RENAME COLUMN stretch TO block;

-- The bodies of functions name tables as text.
CREATE OR REPLACE FUNCTION rotation.note_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO rotation.changed_source VALUES (new.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

DROP TRIGGER spell ON rotation.call;
DROP FUNCTION rotation.add_to_spell();
CREATE FUNCTION rotation.add_to_hourly_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO rotation.hourly_calls AS hour
    SELECT date_trunc('hour', called_at, 'UTC'), platform, pg_backend_pid(), count(*), sum(result_count),
           sum(added.new), sum(duplicates), count(*) FILTER (WHERE added.new = 0),
           count(*) FILTER (WHERE answer IN ('gone', 'error')), sum(requests)
      FROM added GROUP BY 1, 2
    ON CONFLICT (began_at, platform, writer) DO UPDATE
       SET calls = hour.calls + excluded.calls, results = hour.results + excluded.results,
           new = hour.new + excluded.new, duplicates = hour.duplicates + excluded.duplicates,
           wasted = hour.wasted + excluded.wasted, failed = hour.failed + excluded.failed,
           requests = hour.requests + excluded.requests;
    RETURN NULL;
END $$;
CREATE TRIGGER hourly_calls AFTER INSERT ON rotation.call
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION rotation.add_to_hourly_calls();
