"""What the loops of all kinds of plays share: the stage, the cache of states, the turns that run here."""
