"""Replies: what models wrote becomes typed proposals, with problems told in sentences; nothing here raises."""
