"""The JSON interface: one module a noun."""
