"""Rules of play: game systems, and dice that fall in a session."""
