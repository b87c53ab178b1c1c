"""Renders the demo's listings in the formats of real platforms, one module per platform."""
