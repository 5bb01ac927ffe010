"""The decision of a character: a weight for each way on, and the words that go with them."""

from __future__ import annotations

import math

from pydantic import Field, TypeAdapter

from fabula.agents.replies.decoding import fitted, json_in
from fabula.story.ink_stories import Outcome
from fabula.story.values import Json, JsonObject, Value

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
    proposed, problems = fitted(_numbers(value), _PROPOSED)
    if proposed is None:
        return None, problems
    return _decided(proposed)


def _numbers(value: Json) -> Json:
    """Whole numbers are weights, too; strict decoding would refuse them."""
    if isinstance(value, dict) and isinstance(weights := value.get("weights"), dict):
        plain = {name: float(one) if isinstance(one, int) else one for name, one in weights.items()}
        return {**value, "weights": plain}
    return value


def _decided(proposed: Proposed) -> tuple[Decision | None, list[str]]:
    weights = proposed.weights.model_dump()
    total = math.fsum(weights.values())
    if not total > 0 or not math.isfinite(total):
        return None, ["'weights': at least one weight must be above zero"]
    shares: dict[str, float] = {name: weights[name] / total for name in CAREFUL_FIRST}
    outcome = max(CAREFUL_FIRST, key=lambda name: (shares[name], -CAREFUL_FIRST.index(name)))
    decision = Decision(
        outcome=outcome,
        weights=shares,
        reply=proposed.reply.strip()[:LONGEST_TEXT],
        bridge_text=proposed.bridge_text.strip()[:LONGEST_TEXT] if outcome == "BRIDGE_AND_CONTINUE" else "",
        guidance=proposed.guidance.strip()[:LONGEST_TEXT],
        reason=proposed.reason.strip()[:LONGEST_TEXT],
    )
    if not decision.goes_on and not decision.reply:
        return None, ["'reply' is empty, but the player waits for an answer"]
    return decision, []


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
