-- Application forms: versions of an opening's questions, answers, and uploaded files.
ALTER TYPE hiring.event_type ADD VALUE 'FORM_CHANGED';

-- Read with the lock of the opening, so that an application without answers costs no further query.
ALTER TABLE hiring.opening
    ADD COLUMN form_version  int NOT NULL DEFAULT 0,           -- 0: asks for the name and the address only
    ADD COLUMN form_required boolean NOT NULL DEFAULT false;   -- an answer is required

CREATE TABLE hiring.application_form (
    opening_id bigint NOT NULL REFERENCES hiring.opening,
    version    int NOT NULL CHECK (version >= 1),
    fields     jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (opening_id, version)
);
-- Answers and accepted consent texts refer to the version that the applicant saw.
CREATE FUNCTION hiring.refuse_form_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'versions of a form are never changed: % refused', TG_OP;
END $$;
CREATE TRIGGER form_version_stays BEFORE UPDATE OR DELETE ON hiring.application_form
    FOR EACH ROW EXECUTE FUNCTION hiring.refuse_form_change();

CREATE TABLE hiring.form_answer (
    application_id bigint PRIMARY KEY REFERENCES hiring.application,
    opening_id     bigint NOT NULL,
    form_version   int NOT NULL,
    answers        jsonb NOT NULL,                             -- by key; files are in uploaded_file
    knockouts      text[] NOT NULL DEFAULT '{}',               -- keys of answers that the company reviews
    answered_at    timestamptz NOT NULL,
    FOREIGN KEY (opening_id, form_version) REFERENCES hiring.application_form
);

-- Until the address is confirmed; then they move to form_answer.
ALTER TABLE hiring.apply_request
    ADD COLUMN form_version int,
    ADD COLUMN answers      jsonb,
    ADD COLUMN knockouts    text[],
    ADD CONSTRAINT apply_request_answers CHECK ((form_version IS NULL) = (answers IS NULL)),
    ADD FOREIGN KEY (opening_id, form_version) REFERENCES hiring.application_form;

-- How often an answer ended an application before it was created; says nothing about a person.
CREATE TABLE hiring.form_refusal (
    opening_id   bigint NOT NULL,
    form_version int NOT NULL,
    field_key    text NOT NULL,
    refusals     int NOT NULL CHECK (refusals >= 1),
    last_at      timestamptz NOT NULL,
    PRIMARY KEY (opening_id, form_version, field_key),
    FOREIGN KEY (opening_id, form_version) REFERENCES hiring.application_form
);

CREATE TABLE hiring.uploaded_file (
    id               uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    opening_id       bigint NOT NULL REFERENCES hiring.opening,
    field_key        text NOT NULL,
    name             text NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
    media_type       text NOT NULL,
    size             int NOT NULL CHECK (size BETWEEN 1 AND 10000000),
    sha256           bytea NOT NULL CHECK (length(sha256) = 32),
    uploaded_at      timestamptz NOT NULL DEFAULT now(),
    application_id   bigint REFERENCES hiring.application,
    apply_request_id bigint REFERENCES hiring.apply_request ON DELETE CASCADE,
    CHECK (num_nonnulls(application_id, apply_request_id) <= 1)
);
CREATE INDEX uploaded_file_of_application ON hiring.uploaded_file (application_id) WHERE application_id IS NOT NULL;
CREATE INDEX uploaded_file_of_request ON hiring.uploaded_file (apply_request_id) WHERE apply_request_id IS NOT NULL;
CREATE INDEX uploaded_file_unused ON hiring.uploaded_file (uploaded_at)
    WHERE application_id IS NULL AND apply_request_id IS NULL;

-- PDF and DOCX are compressed already.
CREATE TABLE hiring.file_chunk (
    file_id uuid NOT NULL REFERENCES hiring.uploaded_file ON DELETE CASCADE,
    number  int NOT NULL,
    data    bytea NOT NULL,
    PRIMARY KEY (file_id, number)
);
ALTER TABLE hiring.file_chunk ALTER COLUMN data SET STORAGE EXTERNAL;
