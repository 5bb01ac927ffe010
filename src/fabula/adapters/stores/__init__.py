"""Stores: where the truth is kept, on SQLite or Postgres by the same code."""
