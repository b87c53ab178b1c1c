-- Resumes and cover letters that a person writes for a match.

CREATE TYPE matching.document_kind AS ENUM ('resume', 'letter');
CREATE TYPE matching.document_format AS ENUM ('pdf', 'docx', 'txt');

CREATE TABLE matching.document (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    match_id   bigint NOT NULL REFERENCES matching.match ON DELETE CASCADE,
    kind       matching.document_kind NOT NULL,
    version    int NOT NULL DEFAULT 1 CHECK (version > 0),  -- the newest; two tabs cannot overwrite each other
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text,
    CONSTRAINT document_once UNIQUE (match_id, kind)        -- the same document asked for twice is one document
);

CREATE TABLE matching.document_version (
    document_id bigint NOT NULL REFERENCES matching.document ON DELETE CASCADE,
    version     int NOT NULL CHECK (version > 0),
    content     jsonb NOT NULL,
    what        text NOT NULL,                              -- written, edited, reworded, restored
    saved_at    timestamptz NOT NULL DEFAULT now(),
    saved_by    text,
    PRIMARY KEY (document_id, version)
);

-- What the person sent: the file itself, so that a later release cannot print it differently.
CREATE TABLE matching.sent_document (
    document_id bigint NOT NULL,
    version     int NOT NULL,
    format      matching.document_format NOT NULL,
    data        bytea NOT NULL CHECK (length(data) BETWEEN 1 AND 5000000),
    sha256      bytea NOT NULL CHECK (sha256 = sha256(data)),
    sent_at     timestamptz NOT NULL DEFAULT now(),
    sent_by     text,
    PRIMARY KEY (document_id, version, format),
    FOREIGN KEY (document_id, version) REFERENCES matching.document_version ON DELETE CASCADE
);

-- A stored version never changes, and goes only with its document.
CREATE FUNCTION matching.keep_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' OR EXISTS (SELECT FROM matching.document WHERE id = OLD.document_id) THEN
        RAISE EXCEPTION 'a stored version of a document cannot be changed' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER document_version_kept BEFORE UPDATE OR DELETE ON matching.document_version
    FOR EACH ROW EXECUTE FUNCTION matching.keep_document();
CREATE TRIGGER sent_document_kept BEFORE UPDATE OR DELETE ON matching.sent_document
    FOR EACH ROW EXECUTE FUNCTION matching.keep_document();
CREATE TRIGGER live AFTER INSERT OR UPDATE ON matching.document
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('matches');
