"""Kinds of plays: what a play of a graph and a play of an Ink story do differently, each in one place."""
