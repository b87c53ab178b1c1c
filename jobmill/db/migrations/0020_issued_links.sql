-- Personal links that the company issued: who may act as the applicant, and since when.
CREATE TABLE hiring.issued_link (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    applicant_id bigint NOT NULL REFERENCES hiring.applicant,
    issuer       text NOT NULL,                            -- `person:3`, `key:2`, `local`
    issued_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX issued_link_of_applicant ON hiring.issued_link (applicant_id);

CREATE TRIGGER issued_link_changes AFTER INSERT ON hiring.issued_link FOR EACH ROW
    EXECUTE FUNCTION people.note_change('personal link', '{applicant_id}', '{}', '{id,issued_at}');
