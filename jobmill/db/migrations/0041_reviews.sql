-- What reviewers write about an application: notes with mentions, ratings and tags. Personal data about the
-- applicant: outside the audit log and its hash chain, and deleted when the applicant is erased.
CREATE TABLE hiring.review_note (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    application_id bigint NOT NULL REFERENCES hiring.application,
    author         text NOT NULL,                         -- `person:3`, `key:2`, `local`
    body           text NOT NULL CHECK (length(body) BETWEEN 1 AND 10000),
    created_at     timestamptz NOT NULL DEFAULT now(),
    edited_at      timestamptz
);
CREATE INDEX review_note_of_application ON hiring.review_note (application_id, id);
-- The same form sent twice adds one note.
CREATE UNIQUE INDEX review_note_once ON hiring.review_note (application_id, author, md5(body))
    WHERE edited_at IS NULL;

CREATE TABLE hiring.mention (
    note_id   bigint NOT NULL REFERENCES hiring.review_note ON DELETE CASCADE,
    person_id bigint NOT NULL REFERENCES people.person,
    read_at   timestamptz,
    PRIMARY KEY (note_id, person_id)
);
CREATE INDEX mention_unread ON hiring.mention (person_id, note_id) WHERE read_at IS NULL;

CREATE TABLE hiring.rating (
    application_id bigint NOT NULL REFERENCES hiring.application,
    reviewer       text NOT NULL,
    criterion      text NOT NULL DEFAULT '' CHECK (length(criterion) <= 60),  -- empty: overall
    score          smallint NOT NULL CHECK (score BETWEEN 1 AND 5),
    rated_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (application_id, reviewer, criterion)
);

CREATE TABLE hiring.tag (
    application_id bigint NOT NULL REFERENCES hiring.application,
    tag            text NOT NULL CHECK (length(tag) BETWEEN 1 AND 40),
    added_by       text NOT NULL,
    added_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (application_id, tag)
);
CREATE INDEX tag_name ON hiring.tag (tag, application_id);

-- The history names the author and the application, never what was written.
CREATE TRIGGER review_note_changes AFTER UPDATE OR DELETE ON hiring.review_note FOR EACH ROW
    EXECUTE FUNCTION people.note_change('note', '{application_id}', '{body}', '{id,application_id,created_at,edited_at}');
CREATE TRIGGER rating_changes AFTER UPDATE OF score OR DELETE ON hiring.rating FOR EACH ROW
    EXECUTE FUNCTION people.note_change('rating', '{application_id}', '{score,criterion}', '{application_id,rated_at}');

CREATE TRIGGER live AFTER INSERT OR UPDATE OR DELETE ON hiring.review_note
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('hiring');
CREATE TRIGGER live AFTER UPDATE ON hiring.mention
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('hiring');
CREATE TRIGGER live AFTER INSERT OR UPDATE OR DELETE ON hiring.rating
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('hiring');
CREATE TRIGGER live AFTER INSERT OR DELETE ON hiring.tag
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('hiring');
