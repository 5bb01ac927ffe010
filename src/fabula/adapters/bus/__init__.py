"""The bus: events of running turns, numbered, to everyone who listens."""
