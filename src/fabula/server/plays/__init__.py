"""Plays over plain HTTP, for clients that wait for an answer instead of reading a stream."""
