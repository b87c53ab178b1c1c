"""Tables of companies, sources and listings."""
