"""Memory: what a moment brings back to an NPC, decided by words that its past shares with it."""
