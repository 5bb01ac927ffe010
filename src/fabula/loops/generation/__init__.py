"""The generation loop: from a concept to a playable story graph, section by section."""
