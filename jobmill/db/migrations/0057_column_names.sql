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

-- The catalog.
ALTER TABLE catalog.event RENAME COLUMN noun TO subject_type;
ALTER TABLE catalog.event RENAME COLUMN noun_id TO subject_id;
ALTER TABLE catalog.event RENAME COLUMN what TO type;
ALTER TABLE catalog.event RENAME CONSTRAINT event_noun_check TO event_subject_type_check;
ALTER TABLE catalog.incident RENAME COLUMN holds TO hold_count;
ALTER TABLE catalog.listing RENAME COLUMN apart TO unlinked_by_person;
ALTER TABLE catalog.run RENAME COLUMN counted TO counts_as_failure;
ALTER INDEX catalog.company_board_waits RENAME TO company_pending_board;
ALTER INDEX catalog.event_of RENAME TO event_of_subject;
ALTER INDEX catalog.source_troubled RENAME TO source_with_problem;

CREATE OR REPLACE FUNCTION notification.record_catalog_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- A run of a source may write thousands of events: nothing else happens if no channel is enabled.
    IF NOT EXISTS (SELECT FROM notification.channel WHERE enabled) THEN
        RETURN NULL;
    END IF;
    INSERT INTO notification.event (person_id, kind, cause, data)
    SELECT owner_id, 'job_update', 'catalog event ' || added.id || ' match ' || match.id,
           jsonb_build_object('match', match.id, 'what', added.type, 'fields', fields)
      FROM added
     CROSS JOIN LATERAL (
           -- A page that was read names the fields; a run of a source has the old and new value of each.
           SELECT coalesce(array_agg(field ORDER BY field), '{}') AS fields
             FROM (SELECT jsonb_array_elements_text(data -> 'fields') WHERE jsonb_typeof(data -> 'fields') = 'array'
                    UNION SELECT jsonb_object_keys(data) WHERE NOT data ? 'fields') AS names (field)
            WHERE type = 'changed'
              AND field = ANY ('{title,company,location,locations,arrangement,employment_type,salary_min,salary_max,
                                 salary_currency,salary_period,description,requirements,apply_url,valid_through}')
           ) AS changes
      JOIN matching.match ON listing_id = subject_id::bigint
      JOIN matching.profile ON profile.id = profile_id
      JOIN notification.recipient ON recipient.person_id IS NOT DISTINCT FROM owner_id
     WHERE subject_type = 'listing' AND (type IN ('closed', 'reopened') OR fields <> '{}')
       AND match.status IN ('applied', 'interviewing', 'offer') AND role IN ('seeker', 'admin')
     ORDER BY added.id
    ON CONFLICT DO NOTHING;

    PERFORM notification.record('source', '{admin}', 'catalog event ' || id,
                                data || jsonb_build_object('noun', subject_type, 'id', subject_id))
       FROM added
      -- A source that a person disabled has no cause.
      WHERE (subject_type = 'source' AND type = 'disabled' AND data ? 'cause')
         OR (subject_type = 'vendor' AND type = 'incident');
    RETURN NULL;
END $$;

-- Profiles and matches.
ALTER TABLE matching.event RENAME COLUMN what TO type;
ALTER TABLE matching.document_version RENAME COLUMN what TO action;
ALTER TABLE matching.view RENAME COLUMN least_score TO min_score;
ALTER TABLE matching.view RENAME COLUMN made_at TO created_at;
ALTER TABLE matching.view RENAME COLUMN made_by TO created_by;
ALTER TABLE matching.view RENAME CONSTRAINT view_least_score_check TO view_min_score_check;
ALTER TABLE matching.default_profile RENAME CONSTRAINT default_once TO default_profile_once;
ALTER TABLE matching.judging_queue RENAME CONSTRAINT waiting_pkey TO judging_queue_pkey;
ALTER TABLE matching.judging_queue RENAME CONSTRAINT waiting_profile_id_fkey TO judging_queue_profile_id_fkey;
ALTER TABLE matching.judging_queue RENAME CONSTRAINT waiting_listing_id_fkey TO judging_queue_listing_id_fkey;
ALTER INDEX matching.waiting_longest RENAME TO judging_queue_since;
ALTER TRIGGER profile_version_stays ON matching.profile_version RENAME TO profile_version_immutable;
ALTER TRIGGER document_version_kept ON matching.document_version RENAME TO document_version_immutable;
ALTER TRIGGER sent_document_kept ON matching.sent_document RENAME TO sent_document_immutable;
ALTER FUNCTION matching.refuse_change() RENAME TO refuse_profile_version_change;
ALTER FUNCTION matching.keep_document() RENAME TO refuse_document_change;

-- Hiring. No column of the audit log is renamed.
ALTER TABLE hiring.opening RENAME COLUMN top_key TO max_key;
ALTER TABLE hiring.application RENAME COLUMN told_position TO notified_position;
ALTER TABLE hiring.apply_limit RENAME COLUMN used_up TO resets_at;
ALTER TABLE hiring.company RENAME COLUMN single TO only_row;
ALTER TABLE hiring.company RENAME CONSTRAINT company_single_check TO company_only_row_check;
ALTER TABLE hiring.blocklist RENAME CONSTRAINT blocked_pkey TO blocklist_pkey;
ALTER TABLE hiring.idempotent_response RENAME CONSTRAINT answer_pkey TO idempotent_response_pkey;
ALTER TABLE hiring.vacated_place RENAME CONSTRAINT vacated_pkey TO vacated_place_pkey;
ALTER TABLE hiring.vacated_place RENAME CONSTRAINT vacated_opening_id_fkey TO vacated_place_opening_id_fkey;
ALTER TABLE hiring.waitlist_block RENAME CONSTRAINT stretch_pkey TO waitlist_block_pkey;
ALTER TABLE hiring.waitlist_block RENAME CONSTRAINT stretch_opening_id_fkey TO waitlist_block_opening_id_fkey;
ALTER TABLE hiring.waitlist_block RENAME CONSTRAINT stretch_waiting_check TO waitlist_block_waiting_check;
ALTER TABLE hiring.event RENAME CONSTRAINT event_moves TO event_legal_transition;
ALTER INDEX hiring.answer_age RENAME TO idempotent_response_age;
ALTER INDEX hiring.event_folded RENAME TO event_replay;
ALTER TRIGGER event_only_grows ON hiring.event RENAME TO event_append_only;
ALTER TRIGGER event_is_not_emptied ON hiring.event RENAME TO event_no_truncate;
ALTER TRIGGER form_version_stays ON hiring.application_form RENAME TO application_form_immutable;
ALTER TRIGGER blocked_changes ON hiring.blocklist RENAME TO blocklist_changes;
ALTER FUNCTION hiring.refuse_change() RENAME TO refuse_event_change;
ALTER FUNCTION hiring.refuse_form_change() RENAME TO refuse_application_form_change;

-- People.
ALTER TABLE people.change RENAME COLUMN noun TO subject_type;
ALTER TABLE people.change RENAME COLUMN what TO action;
ALTER TABLE people.change RENAME COLUMN was TO before;
ALTER TABLE people.change RENAME COLUMN became TO after;
ALTER TABLE people.change RENAME CONSTRAINT change_what_check TO change_action_check;
ALTER TABLE people.secret RENAME COLUMN single TO only_row;
ALTER TABLE people.secret RENAME CONSTRAINT secret_single_check TO secret_only_row_check;
ALTER INDEX people.key_of_person RENAME TO api_key_of_person;
ALTER TRIGGER key_changes ON people.api_key RENAME TO api_key_changes;
ALTER FUNCTION people.note_change() RENAME TO record_change;

-- Arguments: the type of the subject, the columns that name it, columns whose values are not kept, columns that are
-- left out.
CREATE OR REPLACE FUNCTION people.record_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    old_row    jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) ELSE '{}' END;
    new_row    jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) ELSE '{}' END;
    newest_row jsonb := CASE WHEN TG_OP <> 'DELETE' THEN new_row ELSE old_row END;
    subject    text;
    old_values jsonb;
    new_values jsonb;
BEGIN
    SELECT string_agg(nullif(newest_row ->> name, ''), ' ' ORDER BY n) INTO subject
      FROM unnest(TG_ARGV[1]::text[]) WITH ORDINALITY AS names (name, n);
    SELECT coalesce(jsonb_object_agg(key, CASE WHEN key = ANY (TG_ARGV[2]::text[]) THEN '"…"' ELSE old_row -> key END)
                    FILTER (WHERE old_row ? key), '{}'),
           coalesce(jsonb_object_agg(key, CASE WHEN key = ANY (TG_ARGV[2]::text[]) THEN '"…"' ELSE new_row -> key END)
                    FILTER (WHERE new_row ? key), '{}')
      INTO old_values, new_values
      FROM jsonb_object_keys(old_row || new_row) AS key
     WHERE old_row -> key IS DISTINCT FROM new_row -> key
       AND key <> ALL (TG_ARGV[3]::text[])
       AND coalesce(nullif(old_row -> key, 'null'), nullif(new_row -> key, 'null')) IS NOT NULL;
    IF old_values <> '{}' OR new_values <> '{}' THEN
        INSERT INTO people.change (subject_type, subject, action, before, after, actor)
        VALUES (TG_ARGV[0], coalesce(subject, ''),
                CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'UPDATE' THEN 'changed' ELSE 'removed' END,
                old_values, new_values, coalesce(nullif(current_setting('jobmill.actor', true), ''), 'local'));
    END IF;
    RETURN NULL;
END $$;

-- Its arguments name the column.
DROP TRIGGER company_changes ON hiring.company;
CREATE TRIGGER company_changes AFTER INSERT OR UPDATE OR DELETE ON hiring.company FOR EACH ROW
    EXECUTE FUNCTION people.record_change('company', '{name}', '{logo}', '{only_row,logo_type,logo_hash}');

-- Everything else.
ALTER TABLE notification.push_key RENAME COLUMN single TO only_row;
ALTER TABLE notification.push_key RENAME CONSTRAINT push_key_single_check TO push_key_only_row_check;
ALTER TABLE demo.world RENAME COLUMN one TO only_row;
ALTER TABLE demo.world RENAME CONSTRAINT world_one_check TO world_only_row_check;
ALTER TABLE demo.ended RENAME COLUMN one TO only_row;
ALTER TABLE demo.ended RENAME CONSTRAINT ended_one_check TO ended_only_row_check;
ALTER TABLE budget.allowance RENAME COLUMN one TO only_row;
ALTER TABLE budget.allowance RENAME CONSTRAINT purse_pkey TO allowance_pkey;
ALTER TABLE budget.allowance RENAME CONSTRAINT purse_one_check TO allowance_only_row_check;
ALTER FUNCTION public.jobmill_tell() RENAME TO jobmill_notify_live;
