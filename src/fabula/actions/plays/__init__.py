"""Sessions: start, show, change, go back, branch."""
