"""The keeper's reply: state operations. Each is taken or left on its own; moving the story on is not the keeper's.

An operation says with `because` which words of the turn it follows from; whether it may be applied is not decided here.
"""

from __future__ import annotations

from pydantic import TypeAdapter

from fabula.agents.replies.json_answers import fitted, json_in
from fabula.story.gate import ProposedUpdate
from fabula.story.state import SetCurrentNode, StateOp
from fabula.story.values import Json

MOST_OPS = 64
_OP: TypeAdapter[StateOp] = TypeAdapter(StateOp)


def read_state_update(text: str) -> tuple[ProposedUpdate | None, list[str]]:
    """The operations that can be used, and what is wrong with the others; None when the reply is no update at all."""
    value, problems = json_in(text)
    if problems:
        return None, problems
    ops = value.get("ops") if isinstance(value, dict) else value
    if not isinstance(ops, list):
        return None, ["'ops' is missing or is not a list"]
    return _read_ops(ops)


def _read_ops(ops: list[Json]) -> tuple[ProposedUpdate, list[str]]:
    taken: list[StateOp] = []
    because: list[str] = []
    problems: list[str] = []
    for place, raw in enumerate(ops[:MOST_OPS]):
        raw, reason = _without_reason(raw)
        op, wrong = fitted(raw, _OP)
        if isinstance(op, SetCurrentNode):
            wrong.append("the current node is not the keeper's to change")
        elif op is not None:
            taken.append(op)
            because.append(reason)
        problems += [f"operation {place + 1}: {one}" for one in wrong]
    if len(ops) > MOST_OPS:
        problems.append(f"only the first {MOST_OPS} operations are used")
    return ProposedUpdate(ops=taken, because=because), problems


def _without_reason(raw: Json) -> tuple[Json, str]:
    """An operation, and the words that it gives as its reason."""
    if not isinstance(raw, dict) or "because" not in raw:
        return raw, ""
    because = raw["because"]
    return {key: value for key, value in raw.items() if key != "because"}, because if isinstance(because, str) else ""
