"""Seats: who has a session open, as the feeds of this server and of others tell each other."""
