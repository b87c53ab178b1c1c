-- How the company presents itself: its name, logo and color, its letters, and what a posting says about the job.
CREATE TABLE hiring.company (
    single    boolean PRIMARY KEY DEFAULT true CHECK (single),
    name      text CHECK (length(name) BETWEEN 1 AND 200),
    website   text CHECK (length(website) <= 500),
    accent    text CHECK (accent ~ '^#[0-9a-f]{6}$'),
    logo      bytea CHECK (length(logo) <= 2000000),
    logo_type text CHECK (logo_type IN ('image/png', 'image/jpeg')),
    logo_hash text,                                       -- changes the address of the image
    CHECK ((logo IS NULL) = (logo_type IS NULL) AND (logo IS NULL) = (logo_hash IS NULL))
);
CREATE TRIGGER company_changes AFTER INSERT OR UPDATE OR DELETE ON hiring.company FOR EACH ROW
    EXECUTE FUNCTION people.note_change('company', '{name}', '{logo}', '{single,logo_type,logo_hash}');

-- Every version of every letter that the company wrote; the newest one counts.
CREATE TABLE hiring.letter_template (
    letter     text NOT NULL,
    opening_id bigint REFERENCES hiring.opening,          -- null: all openings without a letter of their own
    version    int NOT NULL CHECK (version >= 1),
    subject    text CHECK (length(subject) BETWEEN 1 AND 200),
    body       text CHECK (length(body) BETWEEN 1 AND 20000),
    saved_at   timestamptz NOT NULL DEFAULT now(),
    saved_by   text NOT NULL,
    -- Two people who edit the same version: the second one is told.
    CONSTRAINT letter_template_version UNIQUE NULLS NOT DISTINCT (letter, opening_id, version),
    -- Without a text: back to the built-in letter.
    CHECK ((subject IS NULL) = (body IS NULL))
);

CREATE TABLE hiring.posting_details (
    opening_id      bigint PRIMARY KEY REFERENCES hiring.opening,
    employment_type text CHECK (employment_type IN (
        'FULL_TIME', 'PART_TIME', 'CONTRACTOR', 'TEMPORARY', 'INTERN', 'VOLUNTEER', 'PER_DIEM', 'OTHER')),
    pay_min         numeric(12, 2) CHECK (pay_min > 0),
    pay_max         numeric(12, 2) CHECK (pay_max >= pay_min),
    pay_currency    text CHECK (pay_currency ~ '^[A-Z]{3}$'),
    pay_period      text CHECK (pay_period IN ('HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR')),
    countries       text[] NOT NULL DEFAULT '{}',         -- where people who work remotely may live
    CHECK ((pay_min IS NULL) = (pay_max IS NULL) AND (pay_min IS NULL) = (pay_currency IS NULL)
           AND (pay_min IS NULL) = (pay_period IS NULL))
);
