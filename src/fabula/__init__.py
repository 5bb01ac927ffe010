"""Fabula: an engine and server for stories that talk back."""

__version__ = "0.1.0"
