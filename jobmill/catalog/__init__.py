"""What is out there: companies, sources, listings."""
