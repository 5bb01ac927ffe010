"""The longer roads that a turn, a generation or a conversation takes; all with steps to resume at are LangGraph graphs."""
