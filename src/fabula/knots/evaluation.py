"""Evaluation: nothing is shown before it was looked at. It must give nothing away, and stay inside the story."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from fabula.agents.talks.decisions import Decision, filler
from fabula.agents.talks.prompts import instruction_texts
from fabula.language.spoilers import Guard, Spoilers
from fabula.language.vocabulary import without
from fabula.story.contexts import InkGenerateContext

GOALS_KEPT = 64
_SECRET_WORDS = 5
_OUT_OF_STORY = re.compile(
    r"\b(as an ai|language model|system prompt|my instructions|my prompt|json object)\b|NEEDS_INPUT|INVALID_INPUT"
    r"|BRIDGE_AND_CONTINUE|DIRECT_CONTINUE|\"weights\"|<[a-z_]+>|```",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Evaluator:
    """Looks at the words of one talk. `goal` and the instructions are what nobody recites."""

    guard: Guard
    goal: Guard

    def findings(self, decision: Decision) -> list[str]:
        """What is wrong with the words that would be shown."""
        shown = [decision.bridge_text] if decision.goes_on else [decision.reply]
        if decision.goes_on:
            shown.append(decision.reply)
        return [found for text in shown for found in self.wrong(text)]

    def wrong(self, text: str) -> list[str]:
        found = [*self.guard.leaks(text), *self.goal.leaks(text), *_instructions().leaks(text)]
        return [*found, *_OUT_OF_STORY.findall(text)]

    def cut(self, text: str) -> str:
        """The text without the sentences that may not be told; one that tells nothing stays as it was written."""
        return without(text, self.wrong)

    def fit(self, decision: Decision, character: str | None, said: str) -> Decision:
        """The decision as it may be shown: whatever is still wrong is cut, and a hole is filled in character."""
        reply, bridge = self.cut(decision.reply), self.cut(decision.bridge_text)
        if not decision.goes_on and not reply:
            reply = filler(character, said).reply
        outcome = decision.outcome
        if outcome == "BRIDGE_AND_CONTINUE" and not bridge:
            outcome = "DIRECT_CONTINUE"
        return decision.model_copy(
            update={
                "outcome": outcome,
                "reply": reply,
                "bridge_text": bridge,
                "guidance": self.cut(decision.guidance),
                "reason": self.cut(decision.reason),
            }
        )


def evaluator(guard: Guard, goal: Iterable[str]) -> Evaluator:
    """The evaluator of one talk."""
    return Evaluator(guard=guard, goal=_unspoken(tuple(goal)))


def text_evaluator(spoilers: Spoilers, *, visited: Iterable[str], context: InkGenerateContext) -> Evaluator:
    """The evaluator of a generated text: what its author asks for by name, and what was told, may be in it."""
    heard = [one.text for one in context.story_so_far if one.kind != "said"]
    return evaluator(spoilers.guard(visited=visited, allowed=[context.prompt, *heard]), [])


@lru_cache(maxsize=GOALS_KEPT)
def _unspoken(texts: tuple[str, ...]) -> Guard:
    return Spoilers.secrets(texts, longer_than=_SECRET_WORDS).guard()


@cache
def _instructions() -> Guard:
    return _unspoken(tuple(instruction_texts()))
