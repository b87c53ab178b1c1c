"""Website reports: what a company's site tells candidates, and what AI assistants answer about it."""
