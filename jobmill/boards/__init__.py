"""Job boards: detection, crawling and the adapters of all platforms."""
