"""AI knots: what Fabula adds to every Ink story it plays, decided purely. The Ink engine knows nothing of it."""
