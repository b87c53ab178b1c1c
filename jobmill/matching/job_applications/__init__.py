"""Applications of a job seeker: the board, and what they keep about each application."""
