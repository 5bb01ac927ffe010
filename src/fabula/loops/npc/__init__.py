"""The NPC loop: hear, recall, speak, and keep only what was really played."""
