"""From sources into the catalog."""
