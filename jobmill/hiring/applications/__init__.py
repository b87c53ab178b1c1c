"""What applicants and recruiters do with applications: apply, withdraw, answer an offer."""
