-- Admission: applications that are reviewed first or drawn by lot, and stages of applications with a slot.
ALTER TYPE hiring.status ADD VALUE 'IN_REVIEW';
ALTER TYPE hiring.event_type ADD VALUE 'ACCEPTED';
ALTER TYPE hiring.event_type ADD VALUE 'REJECTED';
ALTER TYPE hiring.event_type ADD VALUE 'SCORED';
ALTER TYPE hiring.event_type ADD VALUE 'STAGE_CHANGED';
ALTER TYPE hiring.event_type ADD VALUE 'LOTTERY_OPENED';
ALTER TYPE hiring.event_type ADD VALUE 'LOTTERY_DRAWN';

CREATE TYPE hiring.admission AS ENUM (
    'first_come',
    'review',    -- applications wait for a decision of the company
    'lottery'    -- applications wait for the draw
);

ALTER TABLE hiring.opening
    ADD COLUMN admission    hiring.admission NOT NULL DEFAULT 'first_come',
    ADD COLUMN review_order text NOT NULL DEFAULT 'applied' CHECK (review_order IN ('applied', 'score')),
    ADD COLUMN stages       jsonb,                             -- null: the default stages
    ADD COLUMN drawn        boolean NOT NULL DEFAULT false,    -- the lottery is over
    ADD COLUMN in_review    int NOT NULL DEFAULT 0 CHECK (in_review >= 0);

ALTER TABLE hiring.application
    ADD COLUMN score smallint CHECK (score BETWEEN 0 AND 100),
    ADD COLUMN stage text,                                     -- null: the first stage
    ADD CONSTRAINT stages_belong_to_slots CHECK (stage IS NULL OR status IN ('ACTIVE', 'INACTIVE'));

-- Secret seeds; the event `opened_seq` holds their digests, the event `drawn_seq` the seeds themselves.
CREATE TABLE hiring.lottery (
    opening_id bigint NOT NULL REFERENCES hiring.opening,
    opened_seq bigint NOT NULL,
    seed       bytea NOT NULL CHECK (length(seed) = 32),
    drawn_seq  bigint,
    PRIMARY KEY (opening_id, opened_seq)
);

ALTER TABLE hiring.event DROP CONSTRAINT event_moves;
ALTER TABLE hiring.event ADD CONSTRAINT event_moves CHECK (
    application_id IS NULL
    -- Events that keep the status.
    OR (type::text = 'ADDRESS_CONFIRMED' AND from_status = to_status AND to_status <> 'INACTIVE')
    OR (type::text = 'SCORED' AND from_status::text = 'IN_REVIEW' AND to_status = from_status)
    OR (type::text = 'STAGE_CHANGED' AND from_status = 'ACTIVE' AND to_status IN ('ACTIVE', 'INACTIVE'))
    OR (type::text NOT IN ('ADDRESS_CONFIRMED', 'SCORED', 'STAGE_CHANGED')
        AND coalesce(from_status::text, 'new') || ' ' || to_status::text IN (
        'new ACTIVE', 'new PENDING_ACKNOWLEDGMENT', 'new WAITLIST', 'new IN_REVIEW',
        'IN_REVIEW WAITLIST', 'IN_REVIEW INACTIVE',
        'WAITLIST PENDING_ACKNOWLEDGMENT', 'WAITLIST INACTIVE',
        'PENDING_ACKNOWLEDGMENT ACTIVE', 'PENDING_ACKNOWLEDGMENT WAITLIST', 'PENDING_ACKNOWLEDGMENT INACTIVE',
        'ACTIVE INACTIVE')));
