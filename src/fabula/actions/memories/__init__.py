"""Memories: writing them down, recalling them, and what their owners and players do with them."""
