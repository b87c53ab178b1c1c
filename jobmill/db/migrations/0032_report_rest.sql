-- A rerun asks again in a new round; the answers of earlier rounds are paid and stay.
ALTER TABLE reports.report ADD COLUMN results_round int; -- the round of the stored results; null: none yet
UPDATE reports.report SET results_round = round
 WHERE scores IS NOT NULL OR status = 'completed';

ALTER TABLE reports.answer DROP CONSTRAINT answer_report_id_prompt_key_fkey;
ALTER TABLE reports.answer DROP CONSTRAINT answer_pkey;
ALTER TABLE reports.prompt DROP CONSTRAINT prompt_pkey;
ALTER TABLE reports.prompt ADD COLUMN round int NOT NULL DEFAULT 1;
ALTER TABLE reports.answer ADD COLUMN round int NOT NULL DEFAULT 1;
UPDATE reports.prompt SET round = report.round FROM reports.report WHERE report.id = report_id;
UPDATE reports.answer SET round = report.round FROM reports.report WHERE report.id = report_id;
ALTER TABLE reports.prompt ALTER COLUMN round DROP DEFAULT;
ALTER TABLE reports.answer ALTER COLUMN round DROP DEFAULT;
ALTER TABLE reports.prompt ADD PRIMARY KEY (report_id, round, key);
ALTER TABLE reports.answer ADD PRIMARY KEY (report_id, round, prompt_key, model, run);
ALTER TABLE reports.answer ADD FOREIGN KEY (report_id, round, prompt_key)
      REFERENCES reports.prompt (report_id, round, key) ON DELETE CASCADE;

ALTER TABLE reports.report ADD COLUMN competitor_of bigint REFERENCES reports.report ON DELETE SET NULL;
CREATE INDEX report_competitors ON reports.report (competitor_of) WHERE competitor_of IS NOT NULL;
CREATE INDEX report_ended ON reports.report (changed_at) WHERE status IN ('completed', 'failed');
