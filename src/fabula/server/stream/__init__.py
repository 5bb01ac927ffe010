"""Server-sent events: frames from the bus, with ids from which a client can resume."""
