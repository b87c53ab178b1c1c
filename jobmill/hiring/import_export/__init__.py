"""Import and export of openings and applicants as CSV or JSON lines."""
