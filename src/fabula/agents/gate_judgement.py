"""The judge's prompt and its answer: whether a rule of the world stands against a deed in which the rules know no word.

The answer is closed: one of five results, a rule from a list, and a sentence for the player. Anything else is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Final, Literal

from pydantic import StringConstraints

from fabula.agents.phrases import titled
from fabula.ports.models import Message
from fabula.story.values import JsonObject, Value

MOST_TOKENS: Final = 160
LONGEST_REPLY: Final = 4_000
_LONGEST: Final = 600

# Read once while the module is imported: a running server must not touch files on its event loop.
_ROLE: Final = files("fabula.agents").joinpath("texts", "gate_judge.txt").read_text("utf-8").strip()


class GateJudgement(Value):
    """What a model says of a deed."""

    result: Literal["allow", "deny", "ask", "defer", "analog"]
    rule: str = ""
    lead: Annotated[str, StringConstraints(max_length=300, strip_whitespace=True)] = ""


GATE_SCHEMA: Final[JsonObject] = GateJudgement.model_json_schema()


def write_gate_prompt(rules: Mapping[str, str], *, scene: str, deed: str) -> tuple[Message, ...]:
    """What the judge is told: the rules to go by, the scene, and last what the player does."""
    parts = [
        titled("Rules of this world", "\n".join(f"{id}: {_short(text)}" for id, text in rules.items())),
        titled("The scene", _short(scene)),
        titled("The deed", _short(deed)),
    ]
    return (
        Message(role="system", content=_ROLE),
        Message(role="user", content="\n\n".join(part for part in parts if part)),
    )


def read_gate_judgement(reply: str, rules: Mapping[str, str]) -> GateJudgement | None:
    """The judgement in a reply; None for anything else. An objection has to name a rule of the list, and a lead."""
    text = reply[:LONGEST_REPLY]
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])
        said = GateJudgement.model_validate({name: found[name] for name in GateJudgement.model_fields if name in found})
    except (ValueError, TypeError, RecursionError):
        return None
    return said if said.result == "allow" or (said.rule in rules and said.lead) else None


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]} ..."
