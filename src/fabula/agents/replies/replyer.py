"""The replyer's reply: suggestions, each once, no more than asked for."""

from __future__ import annotations

from fabula.agents.replies.json_answers import json_in
from fabula.story.plans import SuggestedReply
from fabula.story.values import Json

LONGEST_REPLY = 600


def read_replies(text: str, *, limit: int) -> tuple[list[SuggestedReply], list[str]]:
    """The suggestions in order, and why there are none."""
    value, problems = json_in(text)
    if problems:
        return [], problems
    found = value.get("replies") if isinstance(value, dict) else value
    if not isinstance(found, list):
        return [], ["'replies' is missing or is not a list"]
    texts: dict[str, str] = {}
    for raw in found:
        words = _words(raw)
        if words:
            texts.setdefault(words.casefold().rstrip(".!?… "), words)
    replies = [SuggestedReply(reply_id=f"r{n}", text=words) for n, words in enumerate(list(texts.values())[:limit], 1)]
    return replies, [] if replies else ["there is no reply with a text"]


def _words(raw: Json) -> str:
    text = raw.get("text") if isinstance(raw, dict) else raw
    return " ".join(text.split())[:LONGEST_REPLY] if isinstance(text, str) else ""
