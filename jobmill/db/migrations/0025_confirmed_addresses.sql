-- Addresses that their owners confirmed, applications that wait for it, and limits on public applications.
ALTER TYPE hiring.event_type ADD VALUE 'ADDRESS_CONFIRMED';
ALTER TYPE hiring.event_type ADD VALUE 'ADDRESS_UNCONFIRMED';

ALTER TABLE hiring.applicant
    ADD COLUMN confirmed_at       timestamptz,                    -- the owner of the address followed a mailed link
    ADD COLUMN entered_by_company boolean NOT NULL DEFAULT false; -- the name is no stranger's text

-- While set, the application ends at this time unless its address is confirmed.
ALTER TABLE hiring.application
    ADD COLUMN confirm_by timestamptz,
    ADD CONSTRAINT ended_applications_wait_for_no_confirmation
        CHECK (status <> 'INACTIVE' OR confirm_by IS NULL);
CREATE INDEX application_unconfirmed ON hiring.application (confirm_by) WHERE confirm_by IS NOT NULL;

-- A confirmation is the only event that keeps the status.
DO $$
DECLARE
    moves text;
BEGIN
    SELECT conname INTO STRICT moves FROM pg_constraint
     WHERE conrelid = 'hiring.event'::regclass AND contype = 'c'
       AND pg_get_constraintdef(oid) LIKE '%new ACTIVE%';
    EXECUTE format('ALTER TABLE hiring.event DROP CONSTRAINT %I', moves);
END $$;
ALTER TABLE hiring.event ADD CONSTRAINT event_moves CHECK (
    application_id IS NULL
    OR (type::text = 'ADDRESS_CONFIRMED' AND from_status = to_status AND to_status <> 'INACTIVE')
    OR (type::text <> 'ADDRESS_CONFIRMED' AND coalesce(from_status::text, 'new') || ' ' || to_status::text IN (
        'new ACTIVE', 'new PENDING_ACKNOWLEDGMENT', 'new WAITLIST',
        'WAITLIST PENDING_ACKNOWLEDGMENT', 'WAITLIST INACTIVE',
        'PENDING_ACKNOWLEDGMENT ACTIVE', 'PENDING_ACKNOWLEDGMENT WAITLIST', 'PENDING_ACKNOWLEDGMENT INACTIVE',
        'ACTIVE INACTIVE')));

-- Requests to apply whose address is not confirmed yet: no applicant, no application, no event.
CREATE TABLE hiring.apply_request (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    opening_id     bigint NOT NULL REFERENCES hiring.opening,
    name           text NOT NULL,
    email          text NOT NULL,
    email_key      text NOT NULL,
    requested_at   timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL,
    application_id bigint REFERENCES hiring.application  -- set when the address is confirmed
);
CREATE UNIQUE INDEX apply_request_open ON hiring.apply_request (opening_id, email_key)
    WHERE application_id IS NULL;
CREATE INDEX apply_request_of_address ON hiring.apply_request (email_key);
CREATE INDEX apply_request_expiry ON hiring.apply_request (expires_at);

ALTER TABLE hiring.notice
    ADD COLUMN apply_request_id bigint REFERENCES hiring.apply_request ON DELETE CASCADE;
CREATE INDEX notice_of_apply_request ON hiring.notice (apply_request_id) WHERE apply_request_id IS NOT NULL;

-- How much of a limit is used, for all web processes. Not worth a place in the write-ahead log.
CREATE UNLOGGED TABLE hiring.apply_limit (
    key     text PRIMARY KEY,                             -- `opening 3`, `network 192.0.2.0/24`, a digest
    used_up timestamptz NOT NULL                          -- when nothing of the limit is used any more
);
CREATE INDEX apply_limit_age ON hiring.apply_limit (used_up);
