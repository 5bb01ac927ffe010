"""Verbs, gathered by what they are about: an action checks, writes in one unit of work, and returns a view."""
