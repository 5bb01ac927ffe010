"""The story loop: scenes in a row, and the world that moves on between them."""
