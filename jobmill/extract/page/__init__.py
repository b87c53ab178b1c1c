"""Read postings from web pages: structured data, data of page scripts, and visible text."""
