"""Rules: game systems, checks and seeded dice; pure."""
