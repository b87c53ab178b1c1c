"""What a company's own pages tell of it."""
