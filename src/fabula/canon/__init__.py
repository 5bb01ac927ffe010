"""Canon: which proposed changes become true, and why; decided purely, by typed rules."""
