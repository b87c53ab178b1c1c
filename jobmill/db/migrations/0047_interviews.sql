-- Interview times: openings of an opening, with a start and an end. People with a place in the parent book them.
ALTER TABLE hiring.opening
    ADD COLUMN parent_id bigint REFERENCES hiring.opening,
    ADD COLUMN starts_at timestamptz,
    ADD COLUMN ends_at   timestamptz,
    ADD CONSTRAINT interview_times_have_a_parent CHECK (
        (parent_id IS NULL) = (starts_at IS NULL) AND (starts_at IS NULL) = (ends_at IS NULL)
        AND starts_at < ends_at);
-- The same form sent twice adds each time once.
CREATE UNIQUE INDEX interview_time_once ON hiring.opening (parent_id, starts_at, ends_at, coalesce(location, ''))
    WHERE parent_id IS NOT NULL AND status <> 'closed';
CREATE INDEX interview_time_of_opening ON hiring.opening (parent_id, starts_at) WHERE parent_id IS NOT NULL;

-- The parent of the opening, for openings that are interview times.
ALTER TABLE hiring.application ADD COLUMN parent_id bigint REFERENCES hiring.opening;
-- A person has one interview time of an opening, booked, offered or waited for.
CREATE UNIQUE INDEX application_booking ON hiring.application (parent_id, applicant_id)
    WHERE parent_id IS NOT NULL AND status <> 'INACTIVE';
