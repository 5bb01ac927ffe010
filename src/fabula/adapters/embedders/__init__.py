"""Embedders: texts to vectors."""
