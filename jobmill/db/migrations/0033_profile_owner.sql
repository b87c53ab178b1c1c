-- Somebody who searches for a job, and nothing else.
ALTER TYPE people.role ADD VALUE 'seeker' BEFORE 'viewer';
