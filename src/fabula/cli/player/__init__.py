"""The terminal player: what `fabula play` shows, hears and understands."""
