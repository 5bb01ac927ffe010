"""What the loops of all kinds of plays share: the stage, and the cache of states."""
