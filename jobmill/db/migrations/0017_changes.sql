-- Who changed how this house is run: people, keys, pauses, searches, webhooks. Written by triggers, so that no
-- way of changing it is forgotten. What is secret is named and never kept.
CREATE TABLE people.change (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    noun    text NOT NULL,
    subject text NOT NULL,                                -- what it was called then
    what    text NOT NULL CHECK (what IN ('added', 'changed', 'removed')),
    was     jsonb NOT NULL,                               -- of what changed; empty for what is new
    became  jsonb NOT NULL,                               -- empty for what is gone
    actor   text NOT NULL                                 -- `person:3`, `key:2`, `local`
);

-- Arguments: what it is, which columns name it, which are not kept, which nobody needs to read.
CREATE FUNCTION people.note_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) ELSE '{}' END;
    after  jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) ELSE '{}' END;
    known  jsonb := CASE WHEN TG_OP <> 'DELETE' THEN after ELSE before END;
    named  text;
    lost   jsonb;
    gained jsonb;
BEGIN
    SELECT string_agg(nullif(known ->> name, ''), ' ' ORDER BY n) INTO named
      FROM unnest(TG_ARGV[1]::text[]) WITH ORDINALITY AS names (name, n);
    SELECT coalesce(jsonb_object_agg(key, CASE WHEN key = ANY (TG_ARGV[2]::text[]) THEN '"…"' ELSE before -> key END)
                    FILTER (WHERE before ? key), '{}'),
           coalesce(jsonb_object_agg(key, CASE WHEN key = ANY (TG_ARGV[2]::text[]) THEN '"…"' ELSE after -> key END)
                    FILTER (WHERE after ? key), '{}')
      INTO lost, gained
      FROM jsonb_object_keys(before || after) AS key
     WHERE before -> key IS DISTINCT FROM after -> key
       AND key <> ALL (TG_ARGV[3]::text[])
       AND coalesce(nullif(before -> key, 'null'), nullif(after -> key, 'null')) IS NOT NULL;
    IF lost <> '{}' OR gained <> '{}' THEN
        INSERT INTO people.change (noun, subject, what, was, became, actor)
        VALUES (TG_ARGV[0], coalesce(named, ''),
                CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'UPDATE' THEN 'changed' ELSE 'removed' END,
                lost, gained, coalesce(nullif(current_setting('jobmill.actor', true), ''), 'local'));
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER person_changes AFTER INSERT OR UPDATE OR DELETE ON people.person FOR EACH ROW
    EXECUTE FUNCTION people.note_change('person', '{name}', '{email,password}', '{id,email_key,created_at}');
CREATE TRIGGER key_changes AFTER INSERT OR UPDATE OF name, role, ended_at OR DELETE ON people.api_key FOR EACH ROW
    EXECUTE FUNCTION people.note_change('key', '{name}', '{digest}', '{id,digest,created_at,used_at}');
CREATE TRIGGER pause_changes AFTER INSERT OR UPDATE OR DELETE ON queue.pause FOR EACH ROW
    EXECUTE FUNCTION people.note_change('pause', '{kind,stage}', '{}', '{kind,stage,paused_at}');
CREATE TRIGGER search_changes AFTER INSERT OR UPDATE OR DELETE ON rotation.search FOR EACH ROW
    EXECUTE FUNCTION people.note_change('search', '{platform,id}', '{}', '{id,created_at}');
CREATE TRIGGER webhook_changes AFTER INSERT OR UPDATE OR DELETE ON hiring.webhook FOR EACH ROW
    EXECUTE FUNCTION people.note_change('webhook', '{id}', '{url,secret}', '{id,created_at}');
-- An address that was blocked may belong to somebody who is erased later: it is not kept here.
CREATE TRIGGER blocked_changes AFTER INSERT OR UPDATE OR DELETE ON hiring.blocked FOR EACH ROW
    EXECUTE FUNCTION people.note_change('blocked address', '{}', '{email_key,reason}', '{created_at}');
