-- Rotation: pauses of a person, settings per target and search, default quotas, and one meaning of priority.
ALTER TABLE rotation.target
    -- Only a person's resume ends it; a pause without this ends when a search needs the slice again.
    ADD COLUMN paused_by_person boolean NOT NULL DEFAULT false,
    ADD COLUMN own_priority     int CHECK (own_priority BETWEEN 0 AND 100),    -- set by a person
    ADD COLUMN own_interval     interval CHECK (own_interval > interval '0'),  -- set by a person
    ADD COLUMN own_window       interval CHECK (own_window >= interval '0');   -- set by a person
UPDATE rotation.target SET paused_by_person = true
 WHERE status = 'paused'
   AND (kind <> 'slice'
        OR EXISTS (SELECT FROM rotation.search_slice WHERE search_slice.source_id = target.source_id));
ALTER TABLE rotation.target
    ADD CONSTRAINT paused_by_person_is_paused CHECK (status = 'paused' OR NOT paused_by_person);

ALTER TABLE rotation.search
    ADD COLUMN min_interval interval CHECK (min_interval > interval '0'),
    ADD COLUMN call_window  interval CHECK (call_window >= interval '0'),
    ADD COLUMN days_back    int CHECK (days_back BETWEEN 1 AND 365),           -- only jobs posted since then
    ADD COLUMN since        date CHECK (since IS NULL OR days_back IS NULL);

-- False: the default quota of the platform applies.
ALTER TABLE rotation.platform ADD COLUMN limits_set boolean NOT NULL DEFAULT false;
UPDATE rotation.platform SET limits_set = true WHERE per_hour IS NOT NULL OR per_day IS NOT NULL;

-- From 0 to 100, higher comes first, as for searches. It was 0 to 1,000,000, lower first, usually 100.
UPDATE rotation.target
   SET priority = CASE WHEN priority <= 100 THEN 100 - greatest(priority, 0) / 2 ELSE 5000 / priority END;
UPDATE rotation.target
   SET priority = wanted.priority
  FROM (SELECT source_id, max(priority) AS priority
          FROM rotation.search_slice JOIN rotation.search ON search.id = search_id
         WHERE enabled GROUP BY source_id) AS wanted
 WHERE target.source_id = wanted.source_id;
ALTER TABLE rotation.target
    ALTER COLUMN priority SET DEFAULT 50,
    ADD CONSTRAINT target_priority_check CHECK (priority BETWEEN 0 AND 100);

DROP INDEX rotation.target_turn;
CREATE INDEX target_turn ON rotation.target (platform, priority DESC, last_success_at NULLS FIRST, source_id)
    WHERE status = 'active' AND enabled;
DROP INDEX rotation.target_slice_turn;
CREATE INDEX target_slice_turn ON rotation.target (platform, last_success_at NULLS FIRST, priority DESC, source_id)
    WHERE status = 'active' AND enabled AND kind = 'slice';
DROP INDEX rotation.target_untried;
CREATE INDEX target_untried ON rotation.target (platform, health DESC, page_cap DESC, priority DESC, source_id)
    WHERE status = 'active' AND enabled AND queued_at IS NULL
      AND rho IS NULL AND gate_at IS NULL;
DROP INDEX rotation.target_waits;
CREATE INDEX target_waits ON rotation.target
    (platform, greatest(known_at, last_called_at), priority DESC, source_id)
    WHERE status = 'active' AND enabled;
