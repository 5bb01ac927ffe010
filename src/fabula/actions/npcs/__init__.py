"""NPCs of games: address one, and keep what it lives through."""
