"""jobmill hiring: applications, the waitlist and the audit log of openings."""
