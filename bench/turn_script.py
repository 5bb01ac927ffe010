"""What the scripted model answers in the turn benchmarks: every role, as short as a real one would be."""

from __future__ import annotations

import json
import os
from typing import Any

LENGTH = int(os.environ.get("FABULA_BENCH_TOKENS", "60"))
WORDS = "The rain falls on the old road and the lamp burns low while Mara waits for an answer".split()


def respond(request: dict[str, Any]) -> str:
    """An answer that fits the role which the prompt is for."""
    text = "\n".join(str(message["content"]) for message in request["messages"])
    if "<update>" in text:
        return f"<narration>{prose(LENGTH)}</narration>"
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
