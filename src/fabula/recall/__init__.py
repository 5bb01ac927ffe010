"""Memory: what to remember, how to rank, spread, consolidate and decay."""
