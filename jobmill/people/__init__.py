"""Who may do what: people, their keys and sessions, and what links are signed with."""
