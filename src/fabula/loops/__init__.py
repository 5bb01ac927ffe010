"""The longer roads that a turn, a generation or a conversation takes; those with steps to resume at are graphs."""
