-- Notifications: what happened (event, written by triggers with its cause), for whom, and every message about it
-- (delivery). `person_id` is null for the local user of this machine, as in matching.profile.
CREATE SCHEMA notification;

CREATE TABLE notification.channel (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    person_id     bigint REFERENCES people.person,
    kind          text NOT NULL CHECK (kind IN ('email', 'webhook', 'ntfy', 'telegram', 'slack', 'discord',
                                                'push', 'apprise', 'feed')),
    name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),  -- shown to the person; holds no secret
    target_digest bytea NOT NULL,                  -- of the address: the same form sent twice adds one channel
    encrypted     bytea NOT NULL,                  -- addresses and keys as JSON
    token_digest  bytea UNIQUE,                    -- of the secret in the address of a feed
    enabled       boolean NOT NULL DEFAULT true,
    problem       text,                            -- why it was switched off
    created_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT channel_once UNIQUE NULLS NOT DISTINCT (person_id, kind, target_digest)
);

CREATE TABLE notification.schedule (
    person_id   bigint REFERENCES people.person,
    time_zone   text NOT NULL DEFAULT 'UTC',
    daily_at    time NOT NULL DEFAULT '08:00',     -- of digests, in the time zone
    weekly_on   smallint NOT NULL DEFAULT 1 CHECK (weekly_on BETWEEN 1 AND 7),  -- 1: Monday
    quiet_from  time,                              -- null: no quiet hours
    quiet_until time,
    CONSTRAINT schedule_once UNIQUE NULLS NOT DISTINCT (person_id),
    CHECK ((quiet_from IS NULL) = (quiet_until IS NULL) AND quiet_from <> quiet_until)
);

CREATE TABLE notification.preference (
    person_id bigint REFERENCES people.person,
    kind      text NOT NULL,
    frequency text NOT NULL CHECK (frequency IN ('instant', 'daily', 'weekly', 'off')),
    CONSTRAINT preference_once UNIQUE NULLS NOT DISTINCT (person_id, kind)
);

CREATE TABLE notification.event (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    person_id  bigint REFERENCES people.person,
    kind       text NOT NULL,                      -- `match` until it is planned: the views decide which kind it is
    cause      text NOT NULL,
    data       jsonb NOT NULL DEFAULT '{}',        -- no names or addresses of applicants
    at         timestamptz NOT NULL DEFAULT now(),
    planned_at timestamptz,                        -- when its deliveries were written
    frequency  text CHECK (frequency IN ('instant', 'daily', 'weekly', 'off')),
    CHECK ((planned_at IS NULL) = (frequency IS NULL)),
    -- A cause is told to a person once.
    CONSTRAINT event_once UNIQUE NULLS NOT DISTINCT (person_id, cause)
);
CREATE INDEX event_unplanned ON notification.event (id) WHERE planned_at IS NULL;
CREATE INDEX event_of_person ON notification.event (person_id, id DESC);
CREATE INDEX event_at ON notification.event (at);

CREATE TABLE notification.delivery (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel_id bigint NOT NULL REFERENCES notification.channel ON DELETE CASCADE,
    key        text NOT NULL,                      -- `event 17`, `daily 2026-11-17`, `test …`
    frequency  text NOT NULL CHECK (frequency IN ('instant', 'daily', 'weekly', 'test')),
    state      text NOT NULL DEFAULT 'waiting' CHECK (state IN (
        'waiting',  -- until it is due
        'queued',   -- in the work queue
        'sending',  -- a worker sends it now, or died while it did
        'sent',
        'dropped',  -- there was a reason not to send it
        'failed',   -- the receiver refused it
        'unknown'   -- it may have arrived: sending it again could deliver it twice
    )),
    due_at     timestamptz NOT NULL,
    attempts   int NOT NULL DEFAULT 0,
    detail     text,                               -- the last answer or error
    created_at timestamptz NOT NULL DEFAULT now(),
    ended_at   timestamptz,
    CHECK ((ended_at IS NOT NULL) = (state IN ('sent', 'dropped', 'failed', 'unknown'))),
    -- A message is sent to a channel once.
    CONSTRAINT delivery_once UNIQUE (channel_id, key)
);
CREATE INDEX delivery_due ON notification.delivery (due_at, id) WHERE state = 'waiting';
CREATE INDEX delivery_ended ON notification.delivery (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX delivery_taken ON notification.delivery (due_at) WHERE state IN ('queued', 'sending');

CREATE TABLE notification.delivery_event (
    delivery_id bigint NOT NULL REFERENCES notification.delivery ON DELETE CASCADE,
    event_id    bigint NOT NULL REFERENCES notification.event ON DELETE CASCADE,
    PRIMARY KEY (delivery_id, event_id)
);
CREATE INDEX delivery_event_of_event ON notification.delivery_event (event_id);

-- Signs requests to the push services of browsers.
CREATE TABLE notification.push_key (
    single    boolean PRIMARY KEY DEFAULT true CHECK (single),
    encrypted bytea NOT NULL
);

-- People who receive notifications at all; the local user may see everything.
CREATE VIEW notification.recipient AS
SELECT DISTINCT channel.person_id, coalesce(person.role::text, 'admin') AS role
  FROM notification.channel LEFT JOIN people.person ON person.id = channel.person_id
 WHERE channel.enabled AND person.ended_at IS NULL;

-- The outbox: write an event for everybody with one of these roles, in the transaction that causes it.
CREATE FUNCTION notification.record(kind text, roles text[], cause text, data jsonb) RETURNS void
    LANGUAGE sql AS $$
    INSERT INTO notification.event (person_id, kind, cause, data)
    SELECT person_id, $1, $3, $4 FROM notification.recipient WHERE role = ANY ($2)
    ON CONFLICT DO NOTHING
$$;

-- Seekers: a new match, or one that became a high match later.
CREATE FUNCTION notification.record_matches() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO notification.event (person_id, kind, cause, data)
    SELECT owner_id, 'match', 'match ' || added.id, jsonb_build_object('match', added.id)
      FROM added JOIN matching.profile ON profile.id = profile_id
      JOIN notification.recipient ON recipient.person_id IS NOT DISTINCT FROM owner_id
     WHERE role IN ('seeker', 'admin')
     ORDER BY added.id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER notify_match AFTER INSERT ON matching.match
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION notification.record_matches();

CREATE FUNCTION notification.record_better_matches() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO notification.event (person_id, kind, cause, data)
    SELECT owner_id, 'match', 'high match ' || new.id, jsonb_build_object('match', new.id)
      FROM matching.profile JOIN notification.recipient ON recipient.person_id IS NOT DISTINCT FROM owner_id
     WHERE profile.id = new.profile_id AND role IN ('seeker', 'admin')
       -- Each match is told once.
       AND NOT EXISTS (SELECT FROM notification.event AS told
                        WHERE told.person_id IS NOT DISTINCT FROM owner_id AND told.cause = 'match ' || new.id
                          AND (told.planned_at IS NULL OR told.kind <> 'match'))
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER notify_better_match AFTER UPDATE OF application_priority ON matching.match FOR EACH ROW
    WHEN (new.application_priority = 'High' AND old.application_priority <> 'High' AND new.status = 'new')
    EXECUTE FUNCTION notification.record_better_matches();

-- Seekers: a job that closed, opened again or changed after they applied. Operators: sources in trouble.
CREATE FUNCTION notification.record_catalog_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- A run of a source may write thousands of events: nothing else happens if nobody is to be told.
    IF NOT EXISTS (SELECT FROM notification.channel WHERE enabled) THEN
        RETURN NULL;
    END IF;
    INSERT INTO notification.event (person_id, kind, cause, data)
    SELECT owner_id, 'job_update', 'catalog event ' || added.id || ' match ' || match.id,
           jsonb_build_object('match', match.id, 'what', added.what, 'fields', fields)
      FROM added
     CROSS JOIN LATERAL (
           -- A page that was read names the fields; a run of a source has the old and new value of each.
           SELECT coalesce(array_agg(field ORDER BY field), '{}') AS fields
             FROM (SELECT jsonb_array_elements_text(data -> 'fields') WHERE jsonb_typeof(data -> 'fields') = 'array'
                    UNION SELECT jsonb_object_keys(data) WHERE NOT data ? 'fields') AS names (field)
            WHERE what = 'changed'
              AND field = ANY ('{title,company,location,locations,arrangement,employment_type,salary_min,salary_max,
                                 salary_currency,salary_period,description,requirements,apply_url,valid_through}')
           ) AS changes
      JOIN matching.match ON listing_id = noun_id::bigint
      JOIN matching.profile ON profile.id = profile_id
      JOIN notification.recipient ON recipient.person_id IS NOT DISTINCT FROM owner_id
     WHERE noun = 'listing' AND (what IN ('closed', 'reopened') OR fields <> '{}')
       AND match.status IN ('applied', 'interviewing', 'offer') AND role IN ('seeker', 'admin')
     ORDER BY added.id
    ON CONFLICT DO NOTHING;

    PERFORM notification.record('source', '{admin}', 'catalog event ' || id,
                                data || jsonb_build_object('noun', noun, 'id', noun_id))
       FROM added
      -- A source that a person disabled has no cause.
      WHERE (noun = 'source' AND what = 'disabled' AND data ? 'cause') OR (noun = 'vendor' AND what = 'incident');
    RETURN NULL;
END $$;
CREATE TRIGGER notify_catalog_event AFTER INSERT ON catalog.event
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION notification.record_catalog_events();

-- Seekers: next steps, at the hour of their digests on the day that they are due.
CREATE FUNCTION notification.record_due_steps() RETURNS void LANGUAGE sql AS $$
    INSERT INTO notification.event (person_id, kind, cause, data)
    SELECT owner_id, 'follow_up', 'step of match ' || match.id || ' on ' || next_step_on,
           jsonb_build_object('match', match.id, 'step', next_step)
      FROM notification.recipient
      LEFT JOIN notification.schedule ON schedule.person_id IS NOT DISTINCT FROM recipient.person_id
      JOIN matching.profile ON owner_id IS NOT DISTINCT FROM recipient.person_id
      JOIN matching.match ON match.profile_id = profile.id
      JOIN matching.application ON match_id = match.id
     WHERE role IN ('seeker', 'admin') AND match.status NOT IN ('rejected', 'dismissed')
       AND next_step_on BETWEEN current_date - 7 AND current_date + 1
       AND next_step_on + coalesce(daily_at, '08:00') <= now() AT TIME ZONE coalesce(schedule.time_zone, 'UTC')
       AND NOT EXISTS (SELECT FROM notification.event AS told
                        WHERE told.person_id IS NOT DISTINCT FROM owner_id
                          AND told.cause = 'step of match ' || match.id || ' on ' || next_step_on)
    ON CONFLICT DO NOTHING
$$;

-- Recruiters: applications, offers that were accepted or missed, and applications that wait for a review.
CREATE FUNCTION notification.record_hiring_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Hundreds of applications may arrive in a second.
    IF NOT EXISTS (SELECT FROM notification.channel WHERE enabled) THEN
        RETURN NULL;
    END IF;
    INSERT INTO notification.event (person_id, kind, cause, data)
    SELECT person_id,
           CASE WHEN type::text IN ('APPLIED', 'ADDRESS_CONFIRMED')
                THEN CASE WHEN to_status::text = 'IN_REVIEW' THEN 'review' ELSE 'application' END
                ELSE 'offer' END,
           'hiring event ' || added.opening_id || ' ' || added.seq,
           jsonb_build_object('opening', opening.id, 'application', application_id, 'title', opening.title,
                              'what', type)
      FROM added JOIN hiring.opening ON opening.id = added.opening_id, notification.recipient
     WHERE role IN ('viewer', 'recruiter', 'admin') AND opening.parent_id IS NULL
       AND ((type::text = 'APPLIED' AND NOT added.metadata ? 'confirmBy')
            OR type::text IN ('ADDRESS_CONFIRMED', 'ACKNOWLEDGED', 'DECAY_TRIGGERED', 'LAPSED'))
     ORDER BY added.seq
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER notify_hiring_event AFTER INSERT ON hiring.event
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION notification.record_hiring_events();

CREATE FUNCTION notification.record_mention() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO notification.event (person_id, kind, cause, data)
    SELECT recipient.person_id, 'review', 'mention in note ' || new.note_id,
           jsonb_build_object('opening', opening.id, 'application', application.id, 'title', opening.title,
                              'what', 'MENTION')
      FROM notification.recipient, hiring.review_note
      JOIN hiring.application ON application.id = application_id
      JOIN hiring.opening ON opening.id = opening_id
     WHERE recipient.person_id = new.person_id AND review_note.id = new.note_id
       AND role IN ('viewer', 'recruiter', 'admin')
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER notify_mention AFTER INSERT ON hiring.mention
    FOR EACH ROW EXECUTE FUNCTION notification.record_mention();

-- Operators: alerts. An alert that stands is one row, and is told once.
CREATE FUNCTION notification.record_alert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM notification.record('alert', '{admin}', 'alert ' || new.id,
                                jsonb_build_object('rule', new.rule, 'detail', new.detail));
    RETURN NULL;
END $$;
CREATE TRIGGER notify_alert AFTER INSERT ON queue.alert
    FOR EACH ROW EXECUTE FUNCTION notification.record_alert();
