-- Places of people who were put back and then left, between the next newcomer and the last who waits: they
-- are closed, so that only the gaps that penalties left are filled by those who come later.
CREATE TABLE hiring.vacated (
    opening_id bigint NOT NULL REFERENCES hiring.opening,
    queue_key  bigint NOT NULL,
    PRIMARY KEY (opening_id, queue_key)
);
