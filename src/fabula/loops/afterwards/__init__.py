"""What follows a turn: memory, world, conflict, lore and summaries."""
