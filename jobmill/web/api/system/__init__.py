"""The API of the system: sources, approvals, searches, rotation, tasks, budget, health, people."""
