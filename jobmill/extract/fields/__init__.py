"""Parse single facts of a posting: pure functions from site text to stored values."""
