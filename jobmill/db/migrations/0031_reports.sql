-- Website reports: what a company's site tells candidates, and what AI assistants answer about it.
CREATE SCHEMA reports;

CREATE TABLE reports.report (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site              text NOT NULL,
    company_id        bigint REFERENCES catalog.company ON DELETE SET NULL,
    company           text NOT NULL,
    status            text NOT NULL DEFAULT 'not-started'
                      CHECK (status IN ('not-started', 'prompt-forming', 'model-analysis', 'completed', 'failed')),
    in_progress       boolean NOT NULL DEFAULT false,     -- queued or running in the phase of its status
    in_progress_since timestamptz,
    due_at            timestamptz NOT NULL DEFAULT now(), -- the scan skips it before this
    item_id           bigint,                             -- the newest item that runs or ran a phase
    failed_status     text,                               -- the status in which it failed
    reason            text,                               -- why it failed
    note              text,                               -- why it waits
    -- Options.
    models            text[] NOT NULL DEFAULT '{}',       -- provider:model; empty: those of the settings
    runs              int NOT NULL CHECK (runs BETWEEN 1 AND 50),
    prompt_count      int NOT NULL CHECK (prompt_count BETWEEN 1 AND 50),
    review            boolean NOT NULL DEFAULT false,     -- a person approves the prompts before they run
    approved_at       timestamptz,
    site_only         boolean NOT NULL DEFAULT false,     -- ends after the website analysis
    budget            numeric CHECK (budget >= 0),        -- US dollars; null: budget_run
    repeat_every      interval CHECK (repeat_every >= interval '1 hour'),
    repeat_at         timestamptz,                        -- when the next report of this site is created
    previous_id       bigint REFERENCES reports.report ON DELETE SET NULL,
    round             int NOT NULL DEFAULT 1,             -- raised when completed answers are asked for again
    -- Results.
    findings          jsonb,
    scores            jsonb,
    recommendations   jsonb,
    claim_review      jsonb,                              -- what a model said of claims that rules leave open
    limits            text[] NOT NULL DEFAULT '{}',       -- what this report could not do
    created_by        text,
    created_at        timestamptz NOT NULL DEFAULT now(),
    changed_at        timestamptz NOT NULL DEFAULT now(),
    completed_at      timestamptz,
    CHECK (in_progress = (in_progress_since IS NOT NULL)),
    CHECK (NOT in_progress OR status NOT IN ('completed', 'failed')),
    CHECK (status <> 'failed' OR (reason IS NOT NULL AND failed_status IS NOT NULL)),
    CHECK (repeat_at IS NULL OR repeat_every IS NOT NULL)
);
CREATE INDEX report_due ON reports.report (status, due_at, id) WHERE NOT in_progress;
CREATE INDEX report_in_progress ON reports.report (in_progress_since) WHERE in_progress;
CREATE INDEX report_repeat ON reports.report (repeat_at) WHERE repeat_at IS NOT NULL;
CREATE INDEX report_company ON reports.report (company_id, id DESC) WHERE company_id IS NOT NULL;
CREATE INDEX report_previous ON reports.report (previous_id) WHERE previous_id IS NOT NULL;

CREATE TABLE reports.prompt (
    report_id     bigint NOT NULL REFERENCES reports.report ON DELETE CASCADE,
    key           text NOT NULL,
    position      int NOT NULL,
    text          text NOT NULL,
    stage         text NOT NULL,
    audience      text NOT NULL,
    names_company boolean NOT NULL,
    edited_by     text,
    edited_at     timestamptz,
    PRIMARY KEY (report_id, key)
);

-- Each answer is stored when it arrives: an attempt that dies does not pay for it again.
CREATE TABLE reports.answer (
    report_id  bigint NOT NULL,
    prompt_key text NOT NULL,
    model      text NOT NULL,
    run        int NOT NULL,
    text       text NOT NULL,
    failure    text,                                      -- why there is no text; it is not asked again
    cost       numeric,                                   -- US dollars; null: unknown
    asked_at   timestamptz NOT NULL DEFAULT now(),
    analysis   jsonb,
    PRIMARY KEY (report_id, prompt_key, model, run),
    FOREIGN KEY (report_id, prompt_key) REFERENCES reports.prompt ON DELETE CASCADE
);

ALTER TABLE catalog.event DROP CONSTRAINT event_noun_check;
ALTER TABLE catalog.event ADD CONSTRAINT event_noun_check
      CHECK (noun IN ('company', 'source', 'listing', 'vendor', 'submission', 'report'));

CREATE TRIGGER live AFTER INSERT OR UPDATE OR DELETE ON reports.report
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('reports');
