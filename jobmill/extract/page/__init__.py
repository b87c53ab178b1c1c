"""Postings on web pages: structured data, data of page scripts, and visible text."""
