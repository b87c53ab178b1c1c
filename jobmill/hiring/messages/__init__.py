"""Letters to applicants and webhook deliveries, and the signed links in letters."""
