-- A match with a dealbreaker has a low priority whatever its score, so the score alone does not say which matches
-- are best. Matches of low priority come after all others, each group by score.
ALTER TABLE matching.match ADD COLUMN sort_score smallint NOT NULL
    GENERATED ALWAYS AS (match_score - CASE application_priority WHEN 'Low' THEN 100 ELSE 0 END) STORED;

DROP INDEX matching.match_best;
DROP INDEX matching.match_best_of_status;
CREATE INDEX match_best ON matching.match (profile_id, sort_score DESC, id DESC) WHERE dropped_at IS NULL;
CREATE INDEX match_best_of_status ON matching.match (profile_id, status, sort_score DESC, id DESC) WHERE dropped_at IS NULL;

-- Today counts the applications of each day and finds those without news for long.
CREATE INDEX match_status_time ON matching.match (profile_id, status, status_at) WHERE dropped_at IS NULL;
