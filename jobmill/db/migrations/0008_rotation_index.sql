-- Rotation: a look at a million targets costs what a look at a thousand costs.
DROP INDEX rotation.target_due;
DROP INDEX rotation.target_new;
DROP INDEX rotation.target_price;
DROP INDEX rotation.target_bad;

-- All that have a moment, in its order; with what says their worth, so that a look reads one place and not
-- hundreds. Who is claimed stands in no line.
CREATE INDEX target_line ON rotation.target (platform, due_at)
    INCLUDE (source_id, page_cap, priority, rho, d, health, last_ok_at, gate_at)
    WHERE status = 'active' AND enabled AND queued_at IS NULL
      AND (rho IS NOT NULL OR gate_at IS NOT NULL);
-- Those that nobody has tried: their worth is their platform's average, so this is the order of worth.
CREATE INDEX target_untried ON rotation.target (platform, health DESC, page_cap DESC, priority, source_id)
    WHERE status = 'active' AND enabled AND queued_at IS NULL
      AND rho IS NULL AND gate_at IS NULL;
CREATE INDEX target_price ON rotation.target (price)
    WHERE status = 'active' AND enabled AND queued_at IS NULL
      AND (rho IS NOT NULL OR gate_at IS NOT NULL);
CREATE INDEX target_bad ON rotation.target (platform, next_allowed_at) WHERE status = 'bad';

-- An index alone answers only for pages that were cleaned up: after one change in a hundred, not in five.
ALTER TABLE rotation.target SET (autovacuum_vacuum_scale_factor = 0.01);
