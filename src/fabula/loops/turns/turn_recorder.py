"""The recorder of a turn: notes what happened and when, for its trace. It only notes; nobody decides by it.

Every line here is on the way of a turn, so it keeps what it is given and computes nothing: that is left to whoever
writes the trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

from fabula.agents.packed_prompts import Prompt
from fabula.story.contexts import RoleContext
from fabula.story.state import StateOp
from fabula.story.values import JsonObject


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedStep:
    """A step, in seconds of the clock that measured it."""

    name: str
    began: float
    ended: float


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedOp:
    """An operation on the state: who wanted it, and why it was refused, if it was."""

    op: StateOp
    by: str
    refused: str | None = None


class TurnRecorder:
    """What is noted of one attempt at a turn.

    `rows` are for whoever has more to tell of a turn: lists by the name under which they are shown, such as the
    memories that went into a prompt. They are stored as they are, so their values are plain JSON.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self.began = monotonic()
        self.steps: list[RecordedStep] = []
        self.asked: list[tuple[RoleContext, Prompt]] = []
        self.operations: list[RecordedOp] = []
        self.degraded: list[tuple[str, str]] = []
        self.rows: dict[str, list[JsonObject]] = {}
        self.first_question: float | None = None
        self.first_text: float | None = None
        self.waited_s = 0.0

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Notes how long the block takes, also when it fails."""
        began = self._monotonic()
        try:
            yield
        finally:
            self.steps.append(RecordedStep(name=name, began=began, ended=self._monotonic()))

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Notes that the turn waits for a model as long as the block lasts."""
        began = self._monotonic()
        try:
            yield
        finally:
            self.waited_s += self._monotonic() - began

    def ask(self, context: RoleContext | None = None, prompt: Prompt | None = None) -> None:
        """Notes that a question leaves, and the prompt that was written for it."""
        if self.first_question is None:
            self.first_question = self._monotonic()
        if context is not None and prompt is not None:
            self.asked.append((context, prompt))

    def tell(self) -> None:
        """Notes that text is told."""
        if self.first_text is None:
            self.first_text = self._monotonic()

    def accept(self, ops: Iterable[StateOp], *, by_rule: Sequence[StateOp], by_story: Sequence[StateOp]) -> None:
        """Notes operations that were applied, and whether a rule or the way that was taken wanted them."""
        for op in ops:
            by = "rule" if op in by_rule else "story" if op in by_story else "keeper"
            self.operations.append(RecordedOp(op=op, by=by))

    def refuse(self, op: StateOp, reason: str, *, by: str = "keeper") -> None:
        """Notes an operation that was refused."""
        self.operations.append(RecordedOp(op=op, by=by, refused=reason))

    def judge(self, *, rule: str, result: str, sentence: str, who: str = "player") -> None:
        """Notes a verdict on what somebody said or wanted to tell; all but `allow` go to the audit."""
        row: JsonObject = {"rule": rule, "result": result, "sentence": sentence, "who": who}
        self.rows.setdefault("verdicts", []).append(row)


def recorded(step: Any) -> Any:
    """A node of a loop that is noted as a step; what the loop runs with has the stage, and the stage the recorder."""

    @wraps(step)
    async def run(state: Any, runtime: Any) -> Any:
        with runtime.context.stage.recorder.step(step.__name__):
            return await step(state, runtime)

    return run
