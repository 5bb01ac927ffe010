"""The keeper: notes what the player has brought about, so that a way opens only when the player meant it.

The player's line was read where it was said (`understudy/reading`). Where it means a way, what the way waits for comes
true, a count by one step; where it is only a question, a look, a wish or a word about something else, nothing changes.
No patience opens a way: who does not find one is given hints.
"""

from __future__ import annotations

from collections.abc import Iterable

from fabula.language.words import stems
from fabula.story.contexts import KeeperContext, SceneContext, StateView
from fabula.story.graph import All as AllOf
from fabula.story.graph import Any as AnyOf
from fabula.story.graph import Comparison, Condition, Node, tests_of
from fabula.story.readings import TakeWay, Understood
from fabula.story.schemas import SchemaField
from fabula.story.values import Json, JsonObject, same_json
from fabula.understudy.reading.reader import read_line
from fabula.understudy.reading.scenes import scene_text_of


def keep(context: KeeperContext) -> JsonObject:
    """The operations that this phase calls for."""
    if context.phase == "after_turn_outputs":
        return {"ops": []}
    read = understood_in(context, context.player_input, context.turns_in_scene)
    ops = progress(
        context.current_node, read, context.world_state, context.world_fields, (one.id for one in context.current_cast)
    )
    return {"ops": list[Json](ops)}


def understood_in(context: SceneContext, line: str, turns_in_scene: int = 0) -> Understood:
    """The player's line as it was understood, or as far as the context alone lets it be."""
    if context.understood is not None:
        return context.understood
    return read_line(line, scene_text_of(context), turns_in_scene=turns_in_scene)


def progress(
    node: Node, read: Understood, state: StateView, fields: dict[str, SchemaField], here: Iterable[str]
) -> list[JsonObject]:
    """What opens the way that the player meant; nothing when none was."""
    if read.node_id != node.id or not isinstance(read.decision, TakeWay) or read.decision.way >= len(node.transitions):
        return []
    condition = _meant(node.transitions[read.decision.way].condition, read)
    present = frozenset(here)
    return [op for op in opening(condition, state, fields) if _may_change(op, present)]


def _may_change(op: JsonObject, here: frozenset[str]) -> bool:
    """What characters feel changes only by acts toward somebody who is there."""
    return op["type"] != "SetCharacterState" or op["character"] in here


def _meant(condition: Condition | None, read: Understood) -> Condition | None:
    """The part of a condition that the line is about, where it waits for several things; else all of it."""
    parts = condition.all if isinstance(condition, AllOf) else condition.any if isinstance(condition, AnyOf) else []
    said = stems(read.line)
    close = [part for part in parts if said & _words_of(part)]
    if not close or len(close) == len(parts):
        return condition
    return AllOf(all=close) if isinstance(condition, AllOf) else close[0]


def _words_of(condition: Condition) -> frozenset[str]:
    texts = [f"{test.key} {test.value if isinstance(test.value, str) else ''}" for test in tests_of(condition)]
    return stems(" ".join(texts))


def opening(condition: Condition | None, state: StateView, fields: dict[str, SchemaField]) -> list[JsonObject]:
    """The operations that bring a condition about, as far as operations can."""
    match condition:
        case Comparison():
            wanted = _wanted(condition, _now(condition, state), fields.get(condition.key))
            return [_operation(condition, wanted[0])] if wanted is not None else []
        case AllOf():
            return [op for part in condition.all for op in opening(part, state, fields)]
        case AnyOf():
            return opening(condition.any[0], state, fields) if condition.any else []
        case _:
            return []


def _now(test: Comparison, state: StateView) -> Json:
    match test.scope:
        case "global":
            return state.custom.get(test.key)
        case "player":
            return (state.player_state or {}).get(test.key)
        case "character":
            return state.character_state.get(test.character or "", {}).get(test.key)


def _wanted(test: Comparison, now: Json, field: SchemaField | None) -> tuple[Json] | None:
    """The value to set. Counts grow one by one."""
    match test.op:
        case "eq":
            return (test.value,)
        case "ne":
            return _another(test.value, field)
        case "contains":
            return _containing(now, test.value)
        case "gt" | "gte" | "lt" | "lte":
            return _nearer(test, now)


def _another(value: Json, field: SchemaField | None) -> tuple[Json] | None:
    if isinstance(value, bool):
        return (not value,)
    if field is not None and field.enum_values:
        return next(((other,) for other in field.enum_values if not same_json(other, value)), None)
    if isinstance(value, (int, float)):
        return (value + 1,)
    return ("changed",) if isinstance(value, str) else None


def _containing(now: Json, part: Json) -> tuple[Json] | None:
    if isinstance(now, list):
        return ([*now, part],)
    if isinstance(now, dict) and isinstance(part, str):
        return ({**now, part: True},)
    if isinstance(now, str) and isinstance(part, str):
        return (f"{now} {part}".strip(),)
    return ([part],)


def _nearer(test: Comparison, now: Json) -> tuple[Json] | None:
    if isinstance(test.value, bool) or not isinstance(test.value, (int, float)):
        return None
    step = 1 if isinstance(test.value, int) else 0.5
    goal = {"gt": test.value + step, "gte": test.value, "lt": test.value - step, "lte": test.value}[test.op]
    here = now if isinstance(now, (int, float)) and not isinstance(now, bool) else 0
    if abs(goal - here) <= step:
        return (goal,)
    return (here + step if goal > here else here - step,)


def _operation(test: Comparison, value: Json) -> JsonObject:
    match test.scope:
        case "global":
            return {"type": "SetState", "key": test.key, "value": value}
        case "player":
            return {"type": "SetPlayerState", "key": test.key, "value": value}
        case "character":
            return {"type": "SetCharacterState", "character": test.character, "key": test.key, "value": value}
