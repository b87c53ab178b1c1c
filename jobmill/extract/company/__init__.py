"""Facts about a company from the pages of its own website."""
