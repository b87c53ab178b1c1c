-- Applications: matches that a person saved or applied to, with what they keep about them.

-- Statuses that a person adds to their board. Each counts as one of the statuses that every export knows.
CREATE TABLE matching.custom_status (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    profile_id   bigint NOT NULL REFERENCES matching.profile ON DELETE CASCADE,
    name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 40),
    status       matching.match_status NOT NULL CHECK (status NOT IN ('new', 'dismissed')),  -- it counts as this one
    shown_after  matching.match_status NOT NULL CHECK (shown_after NOT IN ('new', 'dismissed')),
    created_at   timestamptz NOT NULL DEFAULT now(),
    created_by   text,
    UNIQUE (id, profile_id, status)
);
CREATE UNIQUE INDEX custom_status_name ON matching.custom_status (profile_id, lower(name));

ALTER TABLE matching.match
    ADD COLUMN custom_status_id bigint,
    -- A match is only in a custom status of its own profile that counts as its status.
    ADD CONSTRAINT match_custom_status FOREIGN KEY (custom_status_id, profile_id, status)
        REFERENCES matching.custom_status (id, profile_id, status) ON DELETE SET NULL (custom_status_id);
CREATE INDEX match_of_custom_status ON matching.match (custom_status_id) WHERE custom_status_id IS NOT NULL;

-- Not columns of matching.match, which every judgement updates.
CREATE TABLE matching.application (
    match_id       bigint PRIMARY KEY REFERENCES matching.match ON DELETE CASCADE,
    applied_on     date,
    interview_at   timestamptz,
    offer_deadline date,
    next_step      text CHECK (length(next_step) <= 200),
    next_step_on   date,
    version        int NOT NULL DEFAULT 1,               -- grows with each change: two tabs cannot overwrite each other
    CHECK (next_step_on IS NULL OR next_step IS NOT NULL)
);
CREATE INDEX application_next_step ON matching.application (next_step_on) WHERE next_step_on IS NOT NULL;

CREATE TABLE matching.application_note (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    match_id   bigint NOT NULL REFERENCES matching.match ON DELETE CASCADE,
    body       text NOT NULL CHECK (length(body) BETWEEN 1 AND 10000),
    version    int NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    edited_at  timestamptz,
    removed_at timestamptz                               -- can be restored for a day
);
-- The same form sent twice adds one note.
CREATE UNIQUE INDEX application_note_once ON matching.application_note (match_id, md5(body)) WHERE removed_at IS NULL;

CREATE TABLE matching.application_contact (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    match_id   bigint NOT NULL REFERENCES matching.match ON DELETE CASCADE,
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    role       text NOT NULL DEFAULT '' CHECK (length(role) <= 200),
    email      text NOT NULL DEFAULT '' CHECK (length(email) <= 254),
    phone      text NOT NULL DEFAULT '' CHECK (length(phone) <= 50),
    link       text NOT NULL DEFAULT '' CHECK (length(link) <= 2000),
    created_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz
);
CREATE UNIQUE INDEX application_contact_once ON matching.application_contact (match_id, lower(name), lower(email))
    WHERE removed_at IS NULL;

CREATE TABLE matching.application_file (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    match_id   bigint NOT NULL REFERENCES matching.match ON DELETE CASCADE,
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
    media_type text NOT NULL,
    size       int NOT NULL CHECK (size BETWEEN 1 AND 5000000),
    data       bytea NOT NULL,
    data_hash  uuid NOT NULL GENERATED ALWAYS AS (md5(data)::uuid) STORED,
    created_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz
);
CREATE UNIQUE INDEX application_file_once ON matching.application_file (match_id, data_hash, name) WHERE removed_at IS NULL;

-- The matches that were dismissed last, which can be restored from the board.
CREATE INDEX match_dismissed ON matching.match (profile_id, status_at DESC, id DESC) WHERE status = 'dismissed';
