-- An API key belongs to a person, is limited to a scope, and may expire.
CREATE TYPE people.scope AS ENUM ('metrics', 'read', 'hiring', 'admin');

DROP TRIGGER key_changes ON people.api_key;
ALTER TABLE people.api_key
    ADD COLUMN owner_id   bigint REFERENCES people.person,  -- null: created on this machine, belongs to the installation
    ADD COLUMN scope      people.scope,
    ADD COLUMN expires_at timestamptz;                      -- null: does not expire
UPDATE people.api_key
   SET scope = (CASE role WHEN 'viewer' THEN 'read' WHEN 'recruiter' THEN 'hiring' ELSE 'admin' END)::people.scope;
ALTER TABLE people.api_key
    ALTER COLUMN scope SET NOT NULL,
    DROP COLUMN role;
CREATE INDEX key_of_person ON people.api_key (owner_id);
CREATE TRIGGER key_changes AFTER INSERT OR UPDATE OF name, scope, owner_id, expires_at, ended_at OR DELETE
    ON people.api_key FOR EACH ROW
    EXECUTE FUNCTION people.note_change('key', '{name}', '{digest}', '{id,digest,created_at,used_at}');

-- Sessions end when they are idle, are listed by device, and remember when the password was last entered.
ALTER TABLE people.session
    ADD COLUMN id               bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    ADD COLUMN used_at          timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN authenticated_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN user_agent       text NOT NULL DEFAULT '',
    ADD COLUMN address          text NOT NULL DEFAULT '';
UPDATE people.session SET authenticated_at = created_at;
