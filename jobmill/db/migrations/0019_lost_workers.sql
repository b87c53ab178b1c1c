-- A lost worker counts as a retry now, so it needs no counter of its own.
ALTER TABLE queue.live DROP COLUMN rescues;
