"""The character of an AI knot: its prompt, and what its answer means."""
