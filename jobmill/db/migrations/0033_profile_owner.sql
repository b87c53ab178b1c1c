-- A job search belongs to one person. No owner: the local user of this machine (command line, local browser).
ALTER TYPE people.role ADD VALUE 'seeker' BEFORE 'viewer';

ALTER TABLE matching.profile
    ADD COLUMN owner_id bigint REFERENCES people.person,
    DROP CONSTRAINT profile_once;
ALTER TABLE matching.profile
    ADD CONSTRAINT profile_once UNIQUE NULLS NOT DISTINCT (owner_id, name);

ALTER TABLE matching.default_profile
    DROP COLUMN single,
    ADD COLUMN owner_id bigint REFERENCES people.person,
    ADD CONSTRAINT default_once UNIQUE NULLS NOT DISTINCT (owner_id);

-- Where one admin was the only person with an account, what they saved in a browser is theirs. Everything else
-- stays with the local user until `jobmill profile give`.
UPDATE matching.profile SET owner_id = admin.id
  FROM people.person AS admin
 WHERE admin.role = 'admin' AND admin.ended_at IS NULL
   AND (SELECT count(*) FROM people.person WHERE ended_at IS NULL) = 1
   AND admin.name = (SELECT saved_by FROM matching.profile_version
                      WHERE profile_id = profile.id ORDER BY version DESC LIMIT 1);
UPDATE matching.default_profile SET owner_id = profile.owner_id
  FROM matching.profile WHERE profile.id = default_profile.profile_id;
-- An owner of profiles has a default one: the oldest, if there is none yet.
INSERT INTO matching.default_profile (profile_id, owner_id, set_by)
SELECT DISTINCT ON (owner_id) id, owner_id, 'migration' FROM matching.profile
 WHERE NOT EXISTS (SELECT FROM matching.default_profile AS chosen
                    WHERE chosen.owner_id IS NOT DISTINCT FROM profile.owner_id)
 ORDER BY owner_id, id;

-- Profiles that jobs are scored for.
CREATE VIEW matching.active_profile AS
SELECT profile.id, profile.owner_id, profile.name
  FROM matching.profile LEFT JOIN people.person ON person.id = owner_id
 WHERE paused_at IS NULL AND person.ended_at IS NULL;

-- Records profiles that change their owner or are erased.
CREATE TRIGGER profile_owner_changes AFTER UPDATE OF owner_id OR DELETE ON matching.profile FOR EACH ROW
    EXECUTE FUNCTION people.note_change('profile', '{id}', '{name}', '{id,created_at,paused_at}');

-- What a person added is part of their job search.
ALTER TABLE catalog.submission
    ADD COLUMN owner_id bigint REFERENCES people.person,
    DROP CONSTRAINT submission_once;
UPDATE catalog.submission SET owner_id = profile.owner_id
  FROM matching.profile WHERE profile.id = submission.profile_id AND profile.owner_id IS NOT NULL;
ALTER TABLE catalog.submission
    -- The same URL submitted twice by one person, also at the same time, is one record.
    ADD CONSTRAINT submission_once UNIQUE NULLS NOT DISTINCT (owner_id, key_hash);
CREATE INDEX submission_key ON catalog.submission (key_hash);

-- Pages are told only about their visitor's matches: `matches:3`, `matches:` for the local user.
CREATE FUNCTION matching.notify_owners() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('jobmill_live', 'matches:' || coalesce(owner_id::text, ''))
       FROM (SELECT DISTINCT owner_id FROM changed JOIN matching.profile ON profile.id = profile_id) AS owners;
    RETURN NULL;
END $$;
DROP TRIGGER live ON matching.match;
CREATE TRIGGER live_insert AFTER INSERT ON matching.match
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION matching.notify_owners();
CREATE TRIGGER live_update AFTER UPDATE ON matching.match
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION matching.notify_owners();
CREATE TRIGGER live_delete AFTER DELETE ON matching.match
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION matching.notify_owners();

-- How much of the daily budget a person may use; without a row only the budget of all limits them.
CREATE TABLE budget.share (
    person_id bigint PRIMARY KEY REFERENCES people.person,
    amount    numeric NOT NULL CHECK (amount >= 0),
    unit      text NOT NULL CHECK (unit IN ('usd', 'percent')),
    CHECK (unit = 'usd' OR amount <= 100)
);
CREATE TRIGGER share_changes AFTER INSERT OR UPDATE OR DELETE ON budget.share FOR EACH ROW
    EXECUTE FUNCTION people.note_change('budget share', '{person_id}', '{}', '{person_id}');
ALTER TABLE budget.call ADD COLUMN person_id bigint REFERENCES people.person;  -- the person that it is for; null: all, or the local user
CREATE INDEX call_person ON budget.call (person_id, at) INCLUDE (counted) WHERE person_id IS NOT NULL AND counted > 0;
