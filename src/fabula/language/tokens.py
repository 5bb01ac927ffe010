"""How many tokens a text takes, estimated by one rule for every model: one for every four bytes of UTF-8."""

from __future__ import annotations


def estimated_tokens_of(text: str) -> int:
    """About how many tokens a text takes, rounded up."""
    return tokens_of_size(text_size(text))


def tokens_of_size(size: int) -> int:
    """About how many tokens a text of some bytes takes, rounded up."""
    return -(-size // 4)


def text_size(text: str) -> int:
    """The bytes of a text in UTF-8."""
    # Most texts are plain ASCII, and Python knows it of a string without looking.
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
