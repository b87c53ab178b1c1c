"""Rules that filter and score listings and companies. They are pure functions that explain their
results."""
