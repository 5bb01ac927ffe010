"""Evaluation: nothing is shown before it was looked at. It must give nothing away, and stay inside the story."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fabula.agents.knots.decisions import Decision, filler
from fabula.agents.knots.prompting import instruction_texts
from fabula.agents.knots.spoilers import Guard
from fabula.agents.knots.vocabulary import normal, sentences_of

_SECRET_WORDS = 5
_OUT_OF_STORY = re.compile(
    r"\b(as an ai|language model|system prompt|my instructions|my prompt|json object)\b|NEEDS_INPUT|INVALID_INPUT"
    r"|BRIDGE_AND_CONTINUE|DIRECT_CONTINUE|\"weights\"|<[a-z_]+>|```",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Evaluator:
    """Looks at the words of one moment. `secret` are the goal and the instructions, which nobody recites."""

    guard: Guard
    secret: Guard

    def findings(self, decision: Decision) -> list[str]:
        """What is wrong with the words that would be shown."""
        shown = [decision.bridge_text] if decision.goes_on else [decision.reply]
        if decision.goes_on:
            shown.append(decision.reply)
        return [found for text in shown for found in self.wrong(text)]

    def wrong(self, text: str) -> list[str]:
        return [*self.guard.leaks(text), *self.secret.leaks(text), *_OUT_OF_STORY.findall(text)]

    def cut(self, text: str) -> str:
        """The text without the sentences that may not be told."""
        kept = " ".join(sentence for sentence in sentences_of(text) if not self.wrong(sentence))
        return "" if self.wrong(kept) else kept

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
    """The evaluator of one moment."""
    texts = [*goal, *instruction_texts()]
    sentences = {normal(sentence) for text in texts for sentence in sentences_of(text)}
    secret = tuple(sorted(one for one in sentences if one.count(" ") > _SECRET_WORDS))
    return Evaluator(guard=guard, secret=Guard(sentences=secret, names={}))
