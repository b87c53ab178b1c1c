-- The resume that a version was read from, by its name: the setup says which step was done, not only that a profile exists.
ALTER TABLE matching.profile_version ADD COLUMN resume text;
