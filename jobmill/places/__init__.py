"""Places in job postings: names, countries, time zones, and how locations are written."""
