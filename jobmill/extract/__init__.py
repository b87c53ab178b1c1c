"""Postings and company facts from page content: pure functions without I/O."""
