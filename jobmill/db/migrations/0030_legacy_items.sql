-- An older queue may have repeated work within a lineage. Its items are kept as history, so that the alerts about
-- loops see them; the constraint still allows each work and stage once among the items of this queue.
ALTER TABLE queue.item ADD COLUMN legacy_id text COLLATE "C" NOT NULL DEFAULT '';
COMMENT ON COLUMN queue.item.legacy_id IS 'the id that an imported item had in the older queue; empty for all others';
ALTER TABLE queue.item DROP CONSTRAINT once_in_a_lineage;
ALTER TABLE queue.item ADD CONSTRAINT once_in_a_lineage UNIQUE (tracking_id, key_hash, kind, stage, legacy_id);
