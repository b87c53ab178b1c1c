"""What reviewers write about an application: notes, mentions, ratings and tags."""
