"""The Ink language in pure Python, standard library only."""
