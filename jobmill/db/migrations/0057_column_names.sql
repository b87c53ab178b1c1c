-- Columns, triggers, functions and indexes are named in the words of their field.

-- Rotation.
ALTER TABLE rotation.target RENAME COLUMN found TO new_listings;
ALTER TABLE rotation.target RENAME COLUMN looked TO observed_days;
ALTER TABLE rotation.target RENAME COLUMN shown TO entries;
ALTER TABLE rotation.target RENAME COLUMN shown_days TO entry_days;
ALTER TABLE rotation.target RENAME COLUMN rho TO new_per_day;
ALTER TABLE rotation.target RENAME COLUMN d TO loss_rate;
ALTER TABLE rotation.target RENAME COLUMN gate_at TO blocked_until;
ALTER TABLE rotation.target RENAME COLUMN known_at TO added_at;
ALTER TABLE rotation.target RENAME COLUMN held TO skip_reason;
ALTER TABLE rotation.platform RENAME COLUMN found TO new_listings;
ALTER TABLE rotation.platform RENAME COLUMN looked TO observed_days;
ALTER TABLE rotation.platform RENAME COLUMN shown TO entries;
ALTER TABLE rotation.platform RENAME COLUMN shown_days TO entry_days;
ALTER TABLE rotation.platform RENAME COLUMN opened TO open_count;
ALTER TABLE rotation.platform RENAME COLUMN shut_until TO blocked_until;
ALTER TABLE rotation.platform RENAME COLUMN shut_at TO blocked_at;
ALTER TABLE rotation.platform RENAME COLUMN held TO hold_count;
ALTER TABLE rotation.call_allowance RENAME COLUMN one TO only_row;
ALTER TABLE rotation.call_allowance RENAME COLUMN saved TO balance;
ALTER TABLE rotation.call_allowance RENAME COLUMN saved_at TO refilled_at;
ALTER TABLE rotation.call_allowance RENAME COLUMN owed TO overdue_quota;
ALTER TABLE rotation.call_allowance RENAME CONSTRAINT pace_pkey TO call_allowance_pkey;
ALTER TABLE rotation.call_allowance RENAME CONSTRAINT pace_one_check TO call_allowance_only_row_check;
ALTER TABLE rotation.call_allowance RENAME CONSTRAINT pace_price_check TO call_allowance_price_check;
ALTER TABLE rotation.changed_source RENAME CONSTRAINT changed_pkey TO changed_source_pkey;
ALTER TABLE rotation.changed_source RENAME CONSTRAINT changed_source_id_fkey TO changed_source_source_id_fkey;
ALTER TABLE rotation.hourly_calls RENAME CONSTRAINT spell_pkey TO hourly_calls_pkey;
ALTER INDEX rotation.call_fruitful RENAME TO call_with_new_listings;
ALTER INDEX rotation.signature_old RENAME TO signature_age;
ALTER INDEX rotation.target_held RENAME TO target_skipped;
ALTER INDEX rotation.target_line RENAME TO target_due;
ALTER INDEX rotation.target_turn RENAME TO target_by_priority;
ALTER INDEX rotation.target_slice_turn RENAME TO target_slice_by_age;
ALTER INDEX rotation.target_waits RENAME TO target_overdue;
ALTER TRIGGER source_came ON catalog.source RENAME TO source_added;
ALTER TRIGGER source_turned ON catalog.source RENAME TO source_status_changed;
ALTER FUNCTION rotation.note_source() RENAME TO record_changed_source;

-- Requests to other sites.
ALTER TABLE outside.host RENAME COLUMN turn_at TO last_start_at;
ALTER TABLE outside.host RENAME COLUMN flights TO reservations;

-- The work queue.
ALTER TABLE queue.worker RENAME COLUMN beat_at TO heartbeat_at;
ALTER TABLE queue.worker RENAME COLUMN gone_at TO ended_at;
ALTER TABLE queue.event RENAME COLUMN what TO type;
ALTER TABLE queue.event RENAME COLUMN was TO from_status;
ALTER TABLE queue.event RENAME COLUMN became TO to_status;
ALTER TABLE queue.run_counter RENAME CONSTRAINT tally_pkey TO run_counter_pkey;
ALTER TABLE queue.start_rate RENAME CONSTRAINT pace_pkey TO start_rate_pkey;
