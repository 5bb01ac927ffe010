"""The author's wizard: from a concept to a story that can be played, in a few questions."""
