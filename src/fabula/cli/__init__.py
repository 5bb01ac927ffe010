"""The command line: thin commands with lazy imports, so that help answers at once."""
