"""Rules that compare one aspect of a claim with the site's statements."""
