-- Why a person dismissed a match, and which rules they accepted or declined because of such reasons.
ALTER TABLE matching.match
    ADD COLUMN dismiss_reason text
        CHECK (dismiss_reason IN ('pay', 'location', 'arrangement', 'seniority', 'skills', 'company', 'work')),
    ADD CHECK (dismiss_reason IS NULL OR status = 'dismissed');
CREATE INDEX match_dismissed_with_reason ON matching.match (profile_id, status_at DESC) WHERE dismiss_reason IS NOT NULL;

CREATE TABLE matching.rule_decision (
    profile_id bigint NOT NULL REFERENCES matching.profile ON DELETE CASCADE,
    rule       text NOT NULL,                            -- such as 'company:acme'
    decision   text NOT NULL CHECK (decision IN ('accepted', 'declined')),
    decided_at timestamptz NOT NULL DEFAULT now(),
    decided_by text,
    PRIMARY KEY (profile_id, rule)
);

-- A view without a status shows the inbox: matches without a decision.
COMMENT ON COLUMN matching.view.status IS 'null: the inbox, which is the status new';
