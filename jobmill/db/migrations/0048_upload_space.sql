-- Where an unused file came from, so that one network cannot fill the disk. Forgotten once the file is used.
ALTER TABLE hiring.uploaded_file ADD COLUMN network text;
