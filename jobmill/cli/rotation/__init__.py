"""jobmill rotate: the order in which sources are read."""
