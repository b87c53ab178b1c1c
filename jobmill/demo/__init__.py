"""The demo: fictional companies and people, served on loopback in accelerated time."""
