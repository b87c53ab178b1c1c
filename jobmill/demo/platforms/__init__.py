"""Renders the demo's listings in the formats of real vendors, one module per vendor."""
