"""The API of one's own job search: jobs, matches, applications, profiles and companies."""
