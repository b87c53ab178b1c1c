"""jobmill up, web, worker: processes that run until they are stopped."""
