"""A syntax tree to the documented runtime JSON, inkVersion 21."""
