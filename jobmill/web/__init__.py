"""The website: pages for browsers, the HTTP API, health checks and metrics."""
