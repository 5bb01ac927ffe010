"""What of a SQLite file would run while it is read or written: views, triggers, and values that are worked out.

Fabula makes none of them. In a file from elsewhere they could take all memory, never end, or change rows unasked.
"""

from __future__ import annotations

import re
import sqlite3
from itertools import pairwise


def computed_part(database: sqlite3.Connection) -> str | None:
    """The first such part by its kind and name; None where there is none. It reads no row of any table."""
    for kind, name, sql in database.execute("SELECT type, name, sql FROM sqlite_master"):
        # The index of a key has no words of its own.
        if kind not in ("table", "index") or (sql is not None and _computes(kind, str(sql))):
            return f"{kind} '{str(name)[:60]}'"
    return None


# What is never closed goes to the end: to look for its end again behind each opening sign would take quadratic time.
_QUOTED = re.compile(r"""'(?:[^']|'')*+(?:'|\Z)|"(?:[^"]|"")*+(?:"|\Z)|`(?:[^`]|``)*+(?:`|\Z)|\[[^\]]*+(?:\]|\Z)""")
_WORDS = re.compile(rf"{_QUOTED.pattern}|--[^\n]*|/\*.*?(?:\*/|\Z)|\w+|\S", re.DOTALL)
_OF_INDEXES = {"(", ")", ",", "=", "<", ">", "!"}
_PATTERNS = {"LIKE", "GLOB", "REGEXP", "MATCH", "SELECT", "CASE"}


def _computes(kind: str, sql: str) -> bool:
    """Whether values are worked out by a table or index; in ours they are stored, and compared in conditions.

    The statement itself is looked at and not compared with one of ours: older versions wrote them in other words.
    """
    words = [word.upper() for word in _WORDS.findall(sql) if not word.startswith(("--", "/*"))]
    pairs = list(pairwise(words))
    if kind == "table":
        return words[:2] != ["CREATE", "TABLE"] or not {"AS", "CHECK"}.isdisjoint(words) or ("DEFAULT", "(") in pairs
    if words[:2] != ["CREATE", "INDEX"] and words[:3] != ["CREATE", "UNIQUE", "INDEX"]:
        return True
    called = [word for word, following in pairs if following == "("]
    odd = [word for word in words if not (word in _OF_INDEXES or word.isidentifier() or word.isdigit())]
    return (
        # Behind the columns, brackets stand around what something is IN.
        any(word != "IN" for word in called[1:])
        or any(not _QUOTED.fullmatch(word) for word in odd)
        or not _PATTERNS.isdisjoint(words)
    )
