"""Game systems: formulas, seeded dice, checks and what comes of them; pure."""
