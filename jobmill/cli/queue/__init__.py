"""jobmill queue: items of the work queue."""
