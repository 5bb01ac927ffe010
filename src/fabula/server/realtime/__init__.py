"""Socket.IO for browsers and bots."""
