-- Many offers may end in the same minute: find the openings that are due, and the offers of one of them,
-- without reading the due offers of all others.
-- The deadline seldom changes with an application, so most updates of an opening stay without index entries.
CREATE INDEX opening_due ON hiring.opening (next_deadline_at) WHERE next_deadline_at IS NOT NULL;
CREATE INDEX application_due ON hiring.application (opening_id, acknowledge_deadline, id)
    WHERE status = 'PENDING_ACKNOWLEDGMENT';
DROP INDEX hiring.application_unconfirmed;
CREATE INDEX application_unconfirmed ON hiring.application (opening_id, confirm_by, id)
    WHERE confirm_by IS NOT NULL;
