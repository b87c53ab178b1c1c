-- Passkeys as the second factor of a person. The private key never leaves their device.
CREATE TABLE people.passkey (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    person_id     bigint NOT NULL REFERENCES people.person,
    name          text NOT NULL,
    credential_id bytea NOT NULL UNIQUE,
    public_key    bytea NOT NULL,
    sign_count    bigint NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    used_at       timestamptz
);
CREATE INDEX passkey_of_person ON people.passkey (person_id);

-- What a passkey must sign; deleted by its use, so that a signature is accepted once.
CREATE TABLE people.passkey_challenge (
    digest     bytea PRIMARY KEY,
    person_id  bigint NOT NULL REFERENCES people.person,
    purpose    text NOT NULL CHECK (purpose IN ('register', 'sign in')),
    expires_at timestamptz NOT NULL
);
CREATE INDEX passkey_challenge_of_person ON people.passkey_challenge (person_id);

CREATE TRIGGER passkey_changes AFTER INSERT OR DELETE ON people.passkey FOR EACH ROW
    EXECUTE FUNCTION people.note_change('passkey', '{name}', '{credential_id,public_key}',
                                        '{id,credential_id,public_key,sign_count,created_at,used_at}');
