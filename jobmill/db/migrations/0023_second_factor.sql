-- An authenticator app as the second factor of a person.
CREATE TABLE people.authenticator (
    person_id    bigint PRIMARY KEY REFERENCES people.person,
    seed         bytea NOT NULL,                  -- encrypted; not shown again once confirmed
    created_at   timestamptz NOT NULL DEFAULT now(),
    confirmed_at timestamptz,                     -- null: set up, not in use yet
    last_step    bigint NOT NULL DEFAULT 0,       -- of the newest accepted code: each is accepted once
    failures     int NOT NULL DEFAULT 0,          -- wrong codes since the last accepted one
    failed_at    timestamptz
);

-- For people who lost their second factor; each works once.
CREATE TABLE people.recovery_code (
    digest     bytea PRIMARY KEY,
    person_id  bigint NOT NULL REFERENCES people.person,
    created_at timestamptz NOT NULL DEFAULT now(),
    used_at    timestamptz
);
CREATE INDEX recovery_code_of_person ON people.recovery_code (person_id);

CREATE TRIGGER authenticator_changes AFTER UPDATE OF confirmed_at OR DELETE ON people.authenticator FOR EACH ROW
    EXECUTE FUNCTION people.note_change('authenticator app of person', '{person_id}', '{seed}',
                                        '{person_id,seed,created_at,last_step,failures,failed_at}');
CREATE TRIGGER recovery_code_changes AFTER UPDATE OF used_at ON people.recovery_code FOR EACH ROW
    EXECUTE FUNCTION people.note_change('recovery code of person', '{person_id}', '{digest}',
                                        '{digest,person_id,created_at}');
