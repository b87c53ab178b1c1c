"""The pages: what a browser, a probe and a scraper see."""
