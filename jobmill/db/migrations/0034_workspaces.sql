-- The pages of all messages: those that were not sent are few and looked for by their state.
CREATE INDEX notice_unsent ON hiring.notice (state, id) WHERE state <> 'sent';
