"""Building a world in conversation: what an author says about it becomes true in it, and can be undone."""
