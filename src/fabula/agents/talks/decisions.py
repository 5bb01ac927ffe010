"""The decision of a character: a weight for each way on, and the words that go with them."""

from __future__ import annotations

import math
import unicodedata

from pydantic import Field, TypeAdapter

from fabula.agents.replies.json_answers import fitted, json_in
from fabula.story.ink_stories import Outcome
from fabula.story.values import JsonObject, Value

# Ties go to the more careful one.
CAREFUL_FIRST: tuple[Outcome, ...] = ("INVALID_INPUT", "NEEDS_INPUT", "DIRECT_CONTINUE", "BRIDGE_AND_CONTINUE")
LONGEST_TEXT = 4_000


class Weights(Value):
    """How much speaks for each way on; any scale will do."""

    DIRECT_CONTINUE: float = Field(default=0.0, ge=0)
    BRIDGE_AND_CONTINUE: float = Field(default=0.0, ge=0)
    NEEDS_INPUT: float = Field(default=0.0, ge=0)
    INVALID_INPUT: float = Field(default=0.0, ge=0)


class Proposed(Value):
    """What a model answers."""

    weights: Weights
    reply: str = ""
    bridge_text: str = ""
    guidance: str = ""
    reason: str = ""


class Decision(Value):
    """What comes of it: exactly one outcome, with its words."""

    outcome: Outcome
    weights: dict[str, float]
    reply: str = ""
    bridge_text: str = ""
    guidance: str = ""
    reason: str = ""

    @property
    def goes_on(self) -> bool:
        return self.outcome in ("DIRECT_CONTINUE", "BRIDGE_AND_CONTINUE")


_PROPOSED = TypeAdapter(Proposed)
DECISION_SCHEMA: JsonObject = _PROPOSED.json_schema()


def read_decision(text: str) -> tuple[Decision | None, list[str]]:
    """The decision in a reply, and why there is none."""
    value, problems = json_in(text)
    if problems:
        return None, problems
    proposed, problems = fitted(value, _PROPOSED)
    if proposed is None:
        return None, problems
    return _decided(proposed)


def _decided(proposed: Proposed) -> tuple[Decision | None, list[str]]:
    weights: dict[str, float] = proposed.weights.model_dump()
    if not any(weights.values()):
        return None, ["'weights': at least one weight must be above zero"]
    # The first of the largest: ties go to the more careful one.
    outcome = max(CAREFUL_FIRST, key=lambda name: weights[name])
    decision = Decision(
        outcome=outcome,
        weights=_shares(weights),
        reply=_seen(proposed.reply),
        bridge_text=_seen(proposed.bridge_text) if outcome == "BRIDGE_AND_CONTINUE" else "",
        guidance=_seen(proposed.guidance),
        reason=_seen(proposed.reason),
    )
    if not decision.goes_on and not decision.reply:
        return None, ["'reply' is empty, but the player waits for an answer"]
    return decision, []


def _shares(weights: dict[str, float]) -> dict[str, float]:
    """The weights as parts of one. They are measured by the largest first: the sum of large ones may be infinite."""
    largest = max(weights.values())
    measured = {name: weights[name] / largest for name in CAREFUL_FIRST}
    total = math.fsum(measured.values())
    return {name: one / total for name, one in measured.items()}


def _seen(text: str) -> str:
    """The text at its longest, or nothing when a reader would see nothing of it."""
    shown = text.strip()[:LONGEST_TEXT]
    return shown if any(_is_seen(character) for character in shown) else ""


def _is_seen(character: str) -> bool:
    return not character.isspace() and unicodedata.category(character) not in ("Cc", "Cf")


def filler(character: str | None, said: str) -> Decision:
    """What is told when no usable decision came: the talk stays open, in character."""
    line = "Hm. Say that again?" if character else "Nothing comes of it yet. What do you do?"
    if not said.strip():
        line = "Well? I am listening." if character else "The moment waits for you."
    return Decision(
        outcome="NEEDS_INPUT",
        weights={name: float(name == "NEEDS_INPUT") for name in CAREFUL_FIRST},
        reply=line,
        reason="no usable decision came",
    )
