"""The longer roads that a turn, a generation or a conversation takes; all but the NPC's are LangGraph graphs."""
