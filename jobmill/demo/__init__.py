"""A world to look around in: fictional companies and people, served by ourselves, in fast time."""
