"""Plays compiled stories: story, state, evaluation, lists, flows."""
