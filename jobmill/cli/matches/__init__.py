"""jobmill match: jobs that match a profile."""
