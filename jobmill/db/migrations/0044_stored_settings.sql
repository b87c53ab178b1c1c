-- Settings and model keys that an admin saves on the Settings page. The environment and the settings file override them.
CREATE TABLE people.setting (
    name       text PRIMARY KEY,
    value      text NOT NULL CHECK (value <> '' AND length(value) <= 2000),
    changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE TRIGGER setting_changes AFTER INSERT OR UPDATE OR DELETE ON people.setting FOR EACH ROW
    EXECUTE FUNCTION people.note_change('setting', '{name}', '{}', '{name,changed_at}');

CREATE TABLE people.model_key (
    variable   text PRIMARY KEY CHECK (variable ~ '^[A-Z_]+_API_KEY$'),  -- the environment variable that it stands in for
    encrypted  bytea NOT NULL,                                           -- never shown again
    changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE TRIGGER model_key_changes AFTER INSERT OR UPDATE OR DELETE ON people.model_key FOR EACH ROW
    EXECUTE FUNCTION people.note_change('model key', '{variable}', '{encrypted}', '{variable,changed_at}');
