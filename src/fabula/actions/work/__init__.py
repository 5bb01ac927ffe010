"""Durable work: kinds of it, the one runner, and whether a holder is gone."""
