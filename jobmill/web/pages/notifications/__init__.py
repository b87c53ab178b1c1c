"""/account/notifications, and the links in messages: /unsubscribe and /feeds."""
