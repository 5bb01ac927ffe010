"""How many tokens a text takes, estimated by one rule for every model: one for every four bytes of UTF-8."""

from __future__ import annotations


def estimated_tokens_of(text: str) -> int:
    """About how many tokens a text takes, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // 4)
