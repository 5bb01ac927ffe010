"""Turns: run, watch, cancel, and take up again after a crash."""
