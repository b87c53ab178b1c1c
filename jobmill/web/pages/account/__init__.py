"""/account, /sign-in and /sign-out."""
