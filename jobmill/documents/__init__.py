"""Resumes and cover letters for one job, each line bound to a fact of the person's profile."""
