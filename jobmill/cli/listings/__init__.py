"""jobmill listing: jobs in the catalog."""
