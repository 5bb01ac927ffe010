"""What the scripted model answers in the turn benchmarks: every role, as short as a real one would be."""

from __future__ import annotations

import json
from typing import Any

AT_LENGTH = "Tell me all of it at length."
SHORT, LONG = 40, 240
WORDS = "The rain falls on the old road and the lamp burns low while Mara waits for an answer".split()  # noqa: SIM905


def respond(request: dict[str, Any]) -> str:
    """An answer that fits the role which the prompt is for."""
    text = "\n".join(str(message["content"]) for message in request["messages"])
    if '"weights"' in text:
        return json.dumps({"weights": {"NEEDS_INPUT": 1}, "reply": f"I keep the door. {prose(20)}.", "reason": "so"})
    if "<update>" in text:
        return f"<narration>{prose(LONG if AT_LENGTH in text else SHORT)}</narration>"
    if '"ops"' in text:
        return json.dumps({"ops": []})
    if '"beats"' in text:
        return json.dumps({"role_actions": [], "beats": [{"type": "Narrator", "purpose": "DescribeResult"}]})
    if "<dialogue>" in text:
        return f"<dialogue>{prose(30)}</dialogue>"
    return prose(30)


def prose(length: int) -> str:
    """That many words, no two lines of them alike."""
    return " ".join(f"{WORDS[place % len(WORDS)]}{place}" for place in range(length))
