-- The public fairness proof of an opening: off unless the company switches it on.
ALTER TABLE hiring.opening ADD COLUMN fairness_proof boolean NOT NULL DEFAULT false;

-- Makes pseudonyms that differ in each opening, and hides the internal hashes in the public log. Never changed:
-- another key would give every published log a different head.
CREATE TABLE hiring.fairness_key (
    opening_id bigint PRIMARY KEY REFERENCES hiring.opening,
    key        bytea NOT NULL CHECK (length(key) = 32)
);
