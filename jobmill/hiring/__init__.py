"""Our own openings: who gets a slot, who waits, in which order, and the log that proves it."""
