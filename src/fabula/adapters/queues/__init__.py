"""Queues: work that follows a turn, in-process or on many machines."""
