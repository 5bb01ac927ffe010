"""Presets: the built-in prompt of each role, and how an author's changes to it are kept, shown and checked."""
