"""Interview times of an opening: openings of their own, which people with a place book."""
