"""Operators' routes: alive, ready, metrics."""
