"""jobmill match: listings that fit a profile."""
