"""The trace of a turn: what its recorder noted, told in full. What takes a while is computed when it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Literal

from fabula.actions.house import House
from fabula.agents.packed_prompts import Prompt
from fabula.agents.prompt_explanations import explain_sections
from fabula.loops.turns.turn_recorder import TurnRecorder
from fabula.ports.meters import TURN_PART_SECONDS, Meters
from fabula.ports.plays import Turn
from fabula.ports.traces import TracedStep, TurnTrace
from fabula.story.contexts import LoreNote, RoleContext, SceneContext
from fabula.story.values import Json, JsonObject

Outcome = Literal["done", "failed", "stopped"]


def keep_trace(house: House, turn: Turn, recorder: TurnRecorder, outcome: Outcome) -> None:
    """Hands the trace of a turn over to be written, and counts where its time went."""
    took_s = house.clock.monotonic() - recorder.began
    if outcome == "done":
        count_parts(house.meters, recorder)
    if house.traces.is_on:
        house.traces.put(
            TurnTrace(
                turn_id=turn.turn_id,
                began_at_ms=house.clock.now_ms() - round(took_s * 1000),
                took_ms=round(took_s * 1000),
                outcome=outcome,
                steps=_steps(recorder),
                describe=partial(describe, recorder),
            )
        )


def count_parts(meters: Meters, recorder: TurnRecorder) -> None:
    """Where the time of a turn went. One that asked no model has no context that was built for one."""
    began = recorder.began
    if recorder.first_question is not None:
        meters.observe(TURN_PART_SECONDS, recorder.first_question - began, "context")
        meters.observe(TURN_PART_SECONDS, recorder.waited_s, "model")
    if recorder.first_text is not None:
        meters.observe(TURN_PART_SECONDS, recorder.first_text - began, "first_text")
    for step in recorder.steps:
        if step.name == "commit":
            meters.observe(TURN_PART_SECONDS, step.ended - step.began, "commit")


def _steps(recorder: TurnRecorder) -> list[TracedStep]:
    """The steps in the order in which they began; within one that holds others, it comes first."""
    return [
        TracedStep(
            name=one.name,
            began_ms=round((one.began - recorder.began) * 1000),
            took_ms=round((one.ended - one.began) * 1000),
        )
        for one in sorted(recorder.steps, key=lambda one: (one.began, -one.ended))
    ]


def describe(recorder: TurnRecorder) -> JsonObject:
    """What went into prompts and why, and what became of each operation."""
    return {
        "sections": [row for context, prompt in recorder.asked for row in _sections(context, prompt)],
        "lore": list[Json](_lore([context for context, _ in recorder.asked])),
        "degraded": [{"agent": agent, "reason": reason} for agent, reason in recorder.degraded],
        "operations": [
            {"op": one.op.as_json(), "by": one.by, "accepted": one.refused is None, "reason": one.refused}
            for one in recorder.operations
        ],
        "rows": {name: list[Json](rows) for name, rows in recorder.rows.items()},
    }


def _sections(context: RoleContext, prompt: Prompt) -> list[JsonObject]:
    return [
        {
            "agent": context.role,
            "name": one.name,
            "tokens": one.tokens,
            "included": bool(one.text),
            "why": one.why,
        }
        for one in explain_sections(prompt)
    ]


def _lore(contexts: Sequence[RoleContext]) -> list[JsonObject]:
    """Each entry that went into a prompt of the turn, once, with the word that called it up."""
    found: dict[str, JsonObject] = {}
    for context in contexts:
        if not isinstance(context, SceneContext):
            continue
        for note in context.lore.base:
            found.setdefault(note.title, {"entry": note.title, "because": "it always applies", "word": None})
        for note in context.lore.matched:
            if note.title not in found:
                found[note.title] = _called_up(note, context)
    return list(found.values())


def _called_up(note: LoreNote, context: SceneContext) -> JsonObject:
    """Where the word stands: in the line that the note is tied to, in the scene, or in another line."""
    node, history = context.current_node, context.shared_history
    tied = [history[note.heard_at].text] if note.heard_at is not None and 0 <= note.heard_at < len(history) else []
    scene = [node.title, node.scene, node.goal]
    said = (entry.text for entry in reversed(history))
    for because, texts in (("it was said", tied), ("the scene tells of it", scene), ("it was said", said)):
        word = _word_in(note.keywords, texts)
        if word is not None:
            return {"entry": note.title, "because": because, "word": word}
    return {"entry": note.title, "because": "another entry tells of it", "word": None}


def _word_in(keywords: Sequence[str], texts: Iterable[str]) -> str | None:
    """The first keyword that stands in one of some texts."""
    for text in texts:
        folded = text.casefold()
        for word in keywords:
            if word.casefold() in folded:
                return word
    return None
