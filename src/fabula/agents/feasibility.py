"""What the feasibility gate decided, as the roles that plan and tell a turn are told of it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Final

from fabula.story.intent_verdicts import IntentVerdict

_TEXT: Final = (files("fabula.agents") / "texts" / "feasibility.txt").read_text("utf-8").strip()


def feasibility_text(verdicts: Sequence[IntentVerdict]) -> str:
    """The guidance of verdicts, in words for a prompt."""
    return _TEXT.replace("{verdicts}", "\n".join(f"- {' '.join(one.guidance.split())}" for one in verdicts))
