"""jobmill source, approval: job boards, feeds and pages that listings come from."""
