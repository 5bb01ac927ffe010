"""Ink text to a syntax tree and problems; it never raises."""
