"""How single facts are read: pure functions from what a site says to what we keep."""
