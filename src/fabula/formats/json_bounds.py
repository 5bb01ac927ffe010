"""How much JSON may be decoded, counted over its bytes before any value is built of them.

A megabyte may hold half a million values, and each costs time and fifty times its bytes. The count takes only what
works on whole byte strings (`count`, `replace`, `split`), so it is quicker than the decoding that it saves. What is no
JSON may pass: the decoder says so afterwards.
"""

from __future__ import annotations

from typing import Final

DEEPEST: Final = 64
MOST_VALUES: Final = 100_000

_NOT_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")


def bounds_problem(body: bytes, *, most: int = MOST_VALUES, deepest: int = DEEPEST) -> str | None:
    """Why JSON is not decoded: it has too many values, or nests too deeply."""
    if _marks(body) <= deepest:
        return None
    outside = _outside_texts(body)
    if outside is None or _marks(outside) > most:
        return f"More than {most} JSON values come at once. Send fewer."
    return f"The JSON nests deeper than {deepest} levels. Send it flatter." if _is_deep(outside, deepest) else None


def nul_problem(body: bytes) -> str | None:
    """No store keeps NUL characters, so a text that has one is refused at the door."""
    # Unescaped, a NUL is no JSON. After two backslashes it is no NUL but the letters that would write one.
    if b"\\u0000" not in body or b"\\u0000" not in body.replace(b"\\\\", b""):
        return None
    return "A text contains a NUL character. Remove it."


def value_count(body: bytes) -> int:
    """The values of a JSON text, at most one more than `MOST_VALUES`."""
    outside = _outside_texts(body)
    return MOST_VALUES + 1 if outside is None else min(_marks(outside), MOST_VALUES + 1)


def _marks(part: bytes) -> int:
    """One for each value of a list or object, and one for each list and object: never fewer than there are values."""
    return part.count(b",") + part.count(b"[") + part.count(b"{")


def _outside_texts(body: bytes) -> bytes | None:
    """The body without its texts; None if it has more of them than values and names together may be."""
    if b"\\" in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    if body.count(b'"') > 4 * MOST_VALUES:
        return None
    return b"".join(body.split(b'"')[::2])


def _is_deep(outside: bytes, deepest: int) -> bool:
    brackets = outside.translate(None, _NOT_BRACKETS)
    openings = brackets.count(b"[") + brackets.count(b"{")
    if len(brackets) > 2 * openings:
        # What closes more than it opens is no JSON, and there may be millions of it.
        return False
    depth = 0
    for byte in brackets:
        depth += 1 if byte in b"[{" else -1
        if depth > deepest:
            return True
    return False
