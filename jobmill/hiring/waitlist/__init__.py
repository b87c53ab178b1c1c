"""The order of the waitlist, offers of free slots and their deadlines."""
