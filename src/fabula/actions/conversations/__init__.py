"""Conversations with the cast: open one, say something in it, leave it."""
