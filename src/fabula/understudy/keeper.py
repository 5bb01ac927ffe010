"""The keeper: notes what the player has brought about, so that the ways on open honestly.

A way opens when the player's words speak of what it waits for, or of the scene's goal, or when the player is ready to
go on; after a few turns in one place it opens by itself, so that nobody is stuck. A question opens none: it is
answered first, where it was asked. A refusal opens none either.
"""

from __future__ import annotations

from fabula.language.words import stems, word_set, words_of
from fabula.story.contexts import KeeperContext, ProgressionHint, StateView
from fabula.story.graph import All as AllOf
from fabula.story.graph import Any as AnyOf
from fabula.story.graph import Comparison, Condition, Node, tests_of
from fabula.story.schemas import SchemaField, same_json
from fabula.story.values import Json, JsonObject
from fabula.understudy.utterance import Reading, read

PATIENCE = 3
PATIENCE_AT_A_CHOICE = 5
PATIENCE_WITH_QUESTIONS = 2
GOAL_WORDS = 2
TELL = word_set("tell explain describe")
CHAT = word_set("speak talk hear listen")
TALK = word_set("ask learn trust convince persuade question know find comfort confide")


def keep(context: KeeperContext) -> JsonObject:
    """The operations that this phase calls for."""
    if context.phase == "after_turn_outputs":
        return {"ops": []}
    reading = read(context.player_input)
    ops = progress(
        context.progression_hints, context.current_node, reading, context.world_state, context.turns_in_scene,
        context.world_fields,
    )  # fmt: skip
    return {"ops": list[Json](ops)}


def progress(
    hints: list[ProgressionHint],
    node: Node,
    reading: Reading,
    state: StateView,
    turns_in_scene: int,
    fields: dict[str, SchemaField],
) -> list[JsonObject]:
    """What opens a way on, when the player's words or their patience have earned it."""
    waiting = [hint for hint in hints if hint.condition is not None]
    if not waiting:
        return []
    best = max(waiting, key=lambda hint: _fit(hint, reading))
    earned = _earned(best, node, reading, turns_in_scene)
    # Where the player has to choose between ways, there is more time to choose.
    patience = PATIENCE if len(waiting) == 1 else PATIENCE_AT_A_CHOICE
    waited = turns_in_scene >= patience + PATIENCE_WITH_QUESTIONS * _wants_to_know(reading)
    if not earned and not waited:
        return []
    return opening(best.condition, state, fields, at_once=waited or reading.kind == "ready")


def _fit(hint: ProgressionHint, reading: Reading) -> int:
    """How much of what a way waits for is in the player's words."""
    return len(reading.topic & _waits_for(hint))


def _waits_for(hint: ProgressionHint) -> frozenset[str]:
    words = [hint.to.replace("-", " ")]
    for test in tests_of(hint.condition):
        words.append(test.key)
        words.append(test.value if isinstance(test.value, str) else "")
    return stems(" ".join(words))


def _earned(hint: ProgressionHint, node: Node, reading: Reading, turns_in_scene: int) -> bool:
    if reading.kind == "ready":
        return True
    if reading.kind in ("silence", "greeting", "refusal") or reading.negated or _wants_to_know(reading):
        return False
    shared = len(reading.topic & stems(node.goal))
    goal = frozenset(words_of(node.goal))
    if turns_in_scene >= 1 and goal & CHAT and reading.kind != "deed":
        return True
    if turns_in_scene >= 1 and goal & TALK and shared > 0:
        return True
    return _fit(hint, reading) > 0 or shared >= GOAL_WORDS


def _wants_to_know(reading: Reading) -> bool:
    """Whether the words ask for an answer, which the place they are asked in should give."""
    asked = frozenset(words_of(reading.text)[:3]) & TELL
    return reading.kind == "question" or (reading.kind == "request" and bool(asked))


def opening(
    condition: Condition | None, state: StateView, fields: dict[str, SchemaField], *, at_once: bool
) -> list[JsonObject]:
    """The operations that bring a condition about, as far as operations can."""
    match condition:
        case Comparison():
            wanted = _wanted(condition, _now(condition, state), fields.get(condition.key), at_once=at_once)
            return [_operation(condition, wanted[0])] if wanted is not None else []
        case AllOf():
            return [op for part in condition.all for op in opening(part, state, fields, at_once=at_once)]
        case AnyOf():
            return opening(condition.any[0], state, fields, at_once=at_once) if condition.any else []
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


def _wanted(test: Comparison, now: Json, field: SchemaField | None, *, at_once: bool) -> tuple[Json] | None:
    """The value to set. Counts grow one by one, unless it is time to move on."""
    match test.op:
        case "eq":
            return (test.value,)
        case "ne":
            return _another(test.value, field)
        case "contains":
            return _containing(now, test.value)
        case "gt" | "gte" | "lt" | "lte":
            return _nearer(test, now, at_once=at_once)


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


def _nearer(test: Comparison, now: Json, *, at_once: bool) -> tuple[Json] | None:
    if isinstance(test.value, bool) or not isinstance(test.value, (int, float)):
        return None
    step = 1 if isinstance(test.value, int) else 0.5
    goal = {"gt": test.value + step, "gte": test.value, "lt": test.value - step, "lte": test.value}[test.op]
    here = now if isinstance(now, (int, float)) and not isinstance(now, bool) else 0
    if at_once or abs(goal - here) <= step:
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
