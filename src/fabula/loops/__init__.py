"""LangGraph loops: the longer roads that a turn, a generation or a conversation takes."""
