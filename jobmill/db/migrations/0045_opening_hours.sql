-- When an opening may hurry people: its time zone and quiet hours; and the language of a person's letters.
ALTER TABLE hiring.opening
    ADD COLUMN time_zone   text NOT NULL DEFAULT 'UTC',   -- IANA name; letters tell times in it
    -- Between these times of day, the time to accept an offer does not run and no offer is mailed.
    ADD COLUMN quiet_from  time,
    ADD COLUMN quiet_until time,
    ADD CONSTRAINT opening_quiet_hours CHECK (
        (quiet_from IS NULL) = (quiet_until IS NULL) AND quiet_from <> quiet_until);

-- The language that the person's browser asked for when they applied, such as `en`; null: not known.
ALTER TABLE hiring.applicant ADD COLUMN language text CHECK (language ~ '^[a-z]{2,8}$');
ALTER TABLE hiring.apply_request ADD COLUMN language text CHECK (language ~ '^[a-z]{2,8}$');
