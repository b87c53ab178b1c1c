"""The append-only, hash-chained log of an opening: writing, verifying, replaying, explaining."""
