-- Whom listings are judged for: profiles, each with every version it ever had.

CREATE SCHEMA matching;

CREATE TABLE matching.profile (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT profile_once UNIQUE (name)
);

CREATE TABLE matching.profile_version (
    profile_id bigint NOT NULL REFERENCES matching.profile,
    version    int NOT NULL CHECK (version >= 1),
    content    jsonb NOT NULL,                     -- the whole profile, defaults written out: a verdict stays explicable
    saved_at   timestamptz NOT NULL DEFAULT now(),
    saved_by   text,
    note       text,
    PRIMARY KEY (profile_id, version)
);

-- A verdict names the version that judged, so a version never changes.
CREATE FUNCTION matching.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a version of a profile does not change: save a new one';
END
$$;
CREATE TRIGGER profile_version_stays BEFORE UPDATE ON matching.profile_version
    FOR EACH ROW EXECUTE FUNCTION matching.refuse_change();

-- The profile that counts where none is named: at most one.
CREATE TABLE matching.default_profile (
    single     boolean PRIMARY KEY DEFAULT true CHECK (single),
    profile_id bigint NOT NULL REFERENCES matching.profile,
    set_at     timestamptz NOT NULL DEFAULT now(),
    set_by     text
);
