"""Reading: what a player's line means in its scene, by rule. Verbs, phrases and nouns stand in `understudy/lexicon`."""
