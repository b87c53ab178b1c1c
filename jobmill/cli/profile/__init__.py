"""jobmill profile: what a person can do and wants."""
