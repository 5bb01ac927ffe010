"""The scene loop: one run per player turn."""
