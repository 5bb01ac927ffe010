"""Changes of state: every operation is checked against the schemas and then applied, or refused with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from fabula.story.graph import Comparison, Graph, Node, Transition
from fabula.story.schemas import Schema, defaults_of, value_problem
from fabula.story.sizes import variables_size
from fabula.story.state import (
    AddActiveCharacter,
    CastOp,
    MemoryEntry,
    RemoveActiveCharacter,
    RemoveCharacterState,
    RemovePlayerState,
    RemoveState,
    SetActiveCharacters,
    SetCharacterState,
    SetCurrentNode,
    SetPlayerState,
    SetState,
    StateOp,
    StateUpdate,
    WorldState,
)
from fabula.story.values import Json, JsonObject

SMALL_WINDOW = 16
LARGEST_STATE = 200_000
LONGEST_HISTORY = 200_000
LONGEST_THOUGHTS = 200_000
"""So many letters are kept of what all characters of a play thought, together."""
MOST_OPS = 500
MOST_PRESENT = 50
"""Every turn keeps the variables and what was noticed last, reads the latter again for every role, and every operation
copies the variables of its scope: all are bounded. So are those in a scene: every line keeps who of them noticed it,
and prompts tell of each."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What operations are checked against: the schemas, who exists, and which nodes there are (None: not checked)."""

    world: Schema | None = None
    player: Schema | None = None
    characters: dict[str, Schema | None] = field(default_factory=dict)
    nodes: frozenset[str] | None = None


@dataclass(frozen=True, kw_only=True)
class RefusedOp:
    """An operation that was not applied, and why."""

    op: StateOp
    reason: str


@dataclass(frozen=True, kw_only=True)
class Applied:
    """The state after some operations, those that were applied, and those that were refused."""

    state: WorldState
    ops: tuple[StateOp, ...] = ()
    refused: tuple[RefusedOp, ...] = ()


def apply_all(ops: Sequence[StateOp], state: WorldState, bounds: Bounds) -> Applied:
    """Operations in order; a refused one leaves the state as it was and does not stop the others."""
    applied: list[StateOp] = []
    refused: list[RefusedOp] = []
    size = state_size(state) if ops else 0
    for op in ops[:MOST_OPS]:
        more = _growth(op, state)
        reason = refusal(op, bounds) or _size_refusal(size, more) or _crowd_refusal(op, state)
        if reason is not None:
            refused.append(RefusedOp(op=op, reason=reason))
            continue
        state = state.model_copy(update=_effect(op, state))
        size += more
        applied.append(op)
    refused += [RefusedOp(op=op, reason=f"more than {MOST_OPS} operations came at once") for op in ops[MOST_OPS:]]
    return Applied(state=state, ops=tuple(applied), refused=tuple(refused))


def state_size(state: WorldState) -> int:
    """The size of all variables: about their letters as JSON, and something for each."""
    return sum(map(variables_size, (state.custom, state.player_state, *state.character_state.values())))


def _growth(op: StateOp, state: WorldState) -> int:
    """By how much an operation makes the variables larger."""
    match op:
        case SetState():
            return _growth_of(state.custom, op.key, op.value)
        case SetPlayerState():
            return _growth_of(state.player_state, op.key, op.value)
        case SetCharacterState():
            return _growth_of(state.character_state.get(op.character, {}), op.key, op.value)
        case _:
            return 0


def _growth_of(variables: JsonObject, key: str, value: Json) -> int:
    before = variables_size({key: variables[key]}) if key in variables else 0
    return variables_size({key: value}) - before


def _size_refusal(size: int, more: int) -> str | None:
    # What an older play holds beyond the limit stays, and may become smaller.
    if more <= 0 or size + more <= LARGEST_STATE:
        return None
    return f"the variables of a play may have a size of {LARGEST_STATE} letters, and these would have {size + more}"


def _crowd_refusal(op: StateOp, state: WorldState) -> str | None:
    # More than that may be there in an older play: they stay, and may become fewer.
    if not isinstance(op, SetActiveCharacters | AddActiveCharacter):
        return None
    there = len(_present_after(op, state))
    if there <= max(MOST_PRESENT, len(state.active_characters)):
        return None
    return f"a scene holds {MOST_PRESENT} characters, and these would be {there}"


def let_in(there: Sequence[str], came: Iterable[str]) -> list[str]:
    """Those in a scene when others come to it; who finds no room stays outside."""
    return list(dict.fromkeys([*there, *came]))[: max(MOST_PRESENT, len(there))]


def refusal(op: StateOp, bounds: Bounds) -> str | None:
    """Why an operation may not be applied, or None when it may."""
    match op:
        case SetCurrentNode():
            known = bounds.nodes is None or op.node_id in bounds.nodes
            return None if known else f"there is no node '{op.node_id}'"
        case SetActiveCharacters():
            return next((reason for one in op.characters if (reason := _unknown(one, bounds))), None)
        case AddActiveCharacter():
            return _unknown(op.character, bounds)
        case SetState():
            return value_problem(op.key, op.value, bounds.world)
        case SetPlayerState():
            return value_problem(op.key, op.value, bounds.player)
        case SetCharacterState():
            schema = bounds.characters.get(op.character)
            return _unknown(op.character, bounds) or value_problem(op.key, op.value, schema)
        case RemoveActiveCharacter() | RemoveState() | RemovePlayerState() | RemoveCharacterState():
            return None
        case _:
            assert_never(op)


def _unknown(character: str, bounds: Bounds) -> str | None:
    return None if character in bounds.characters else f"there is no character '{character}'"


def _effect(op: StateOp, state: WorldState) -> dict[str, object]:
    match op:
        case SetCurrentNode():
            return {"current_node": op.node_id}
        case SetActiveCharacters() | AddActiveCharacter() | RemoveActiveCharacter():
            return {"active_characters": _present_after(op, state)}
        case SetState():
            return {"custom": {**state.custom, op.key: op.value}}
        case RemoveState():
            return {"custom": _without(state.custom, op.key)}
        case SetPlayerState():
            return {"player_state": {**state.player_state, op.key: op.value}}
        case RemovePlayerState():
            return {"player_state": _without(state.player_state, op.key)}
        case SetCharacterState():
            changed = {**state.character_state.get(op.character, {}), op.key: op.value}
            return {"character_state": {**state.character_state, op.character: changed}}
        case RemoveCharacterState():
            return _character_variable_removed(op, state)
        case _:
            assert_never(op)


def _present_after(op: CastOp, state: WorldState) -> list[str]:
    match op:
        case SetActiveCharacters():
            return list(dict.fromkeys(op.characters))
        case AddActiveCharacter():
            return list(dict.fromkeys([*state.active_characters, op.character]))
        case RemoveActiveCharacter():
            return [one for one in state.active_characters if one != op.character]
        case _:
            assert_never(op)


def _without(variables: JsonObject, key: str) -> JsonObject:
    return {name: value for name, value in variables.items() if name != key}


def _character_variable_removed(op: RemoveCharacterState, state: WorldState) -> dict[str, object]:
    if op.character not in state.character_state:
        return {}
    changed = _without(state.character_state[op.character], op.key)
    return {"character_state": {**state.character_state, op.character: changed}}


def enter(node: Node, state: WorldState, bounds: Bounds) -> Applied:
    """The state after coming to a node: its cast replaces the one before, then its updates run."""
    arrived = state.model_copy(update={"current_node": node.id, "active_characters": let_in([], node.characters)})
    return apply_all(node.on_enter_updates, arrived, bounds)


def opening_state(graph: Graph, bounds: Bounds) -> Applied:
    """The state with which a play starts: the schemas' defaults, then the start node is entered."""
    state = WorldState(
        current_node=graph.start_node,
        custom=defaults_of(bounds.world),
        player_state=defaults_of(bounds.player),
        character_state={one: found for one, schema in bounds.characters.items() if (found := defaults_of(schema))},
    )
    start = graph.node(graph.start_node)
    return Applied(state=state) if start is None else enter(start, state, bounds)


def progression_ops(way: Transition, update: StateUpdate) -> list[StateOp]:
    """The operation that keeps true what led on, when the keeper's later update does not touch it."""
    test = way.condition
    if not isinstance(test, Comparison) or test.op != "eq":
        return []
    wanted = _set_op(test, test.value)
    touched = {place_of(op) for op in update.ops}
    return [] if wanted is None or place_of(wanted) in touched else [wanted]


def _set_op(test: Comparison, value: Json) -> StateOp | None:
    match test.scope:
        case "global":
            return SetState(key=test.key, value=value)
        case "player":
            return SetPlayerState(key=test.key, value=value)
        case "character":
            return SetCharacterState(character=test.character, key=test.key, value=value) if test.character else None


def place_of(op: StateOp) -> tuple[str, ...]:
    """The variable that an operation changes; nothing for those that change who is there."""
    match op:
        case SetState() | RemoveState():
            return ("global", op.key)
        case SetPlayerState() | RemovePlayerState():
            return ("player", op.key)
        case SetCharacterState() | RemoveCharacterState():
            return ("character", op.character, op.key)
        case SetCurrentNode() | SetActiveCharacters() | AddActiveCharacter() | RemoveActiveCharacter():
            return ()
        case _:
            assert_never(op)


def window(entries: Sequence[MemoryEntry], limit: int) -> list[MemoryEntry]:
    """The newest entries, never more than `limit`, nor more letters than a history may have.

    A long window is cut by half at a time, so that its beginning, and with it the beginning of every prompt, stays
    the same for many turns; a short one rolls entry by entry.
    """
    entries = newest_within(entries, LONGEST_HISTORY)
    over = len(entries) - limit
    if over <= 0:
        return list(entries)
    step = limit // 2 if limit > SMALL_WINDOW else 1
    return list(entries[-(-over // step) * step :])


SHORT_WINDOW = 2 * SMALL_WINDOW
LATEST_LINES = 16
"""So much room is left in a long window for what is said in the turn itself."""
FEWEST_KEPT = 16


def lines_left_out(total: int, limit: int) -> int:
    """How many of the first lines of a play are not told to a role that sees so many at most.

    It grows by three quarters of a window at a time and depends on nothing else, so that what is told keeps its
    beginning for many turns. Of a short window, which rolls line by line, some more is counted as told than is.
    """
    if limit <= SHORT_WINDOW:
        return max(0, (total - limit) // SHORT_WINDOW * SHORT_WINDOW)
    most = limit - LATEST_LINES
    step = most - lines_kept(limit)
    return max(0, -(-(total - most) // step) * step)


def lines_kept(limit: int) -> int:
    """How many lines of a long window are still told when the others are left out.

    All that is told is read anew then, so the fewer are kept, the rarer that is; but a role needs the last scene.
    """
    most = limit - LATEST_LINES
    return max(most // 4, min(FEWEST_KEPT, most // 2))


def turns_kept(told: Sequence[MemoryEntry], limit: int) -> int | None:
    """How many turns of what is told began in lines that were there when the lines before were left out.

    They stay the same until the next time. None for a short window, which keeps no such lines.
    """
    if limit <= SHORT_WINDOW:
        return None
    return sum(entry.kind == "player_input" for entry in told[: lines_kept(limit)])


def _told_letters(entries: Sequence[MemoryEntry]) -> list[int]:
    # Every turn measures whole histories, again for each role: in a loop, because calls took longer than all else.
    return [len(entry.text) for entry in entries]


def _kept_letters(entries: Sequence[MemoryEntry]) -> list[int]:
    """The letters of lines with the ids of those who noticed them, each in quotation marks and after a comma."""
    return [len(entry.text) + (_of_listeners(entry.heard_by) if entry.heard_by else 0) for entry in entries]


def _of_listeners(ids: Sequence[str]) -> int:
    return sum(map(len, ids)) + 3 * len(ids)


def newest_within(
    entries: Sequence[MemoryEntry],
    letters: int,
    *,
    sizes_of: Callable[[Sequence[MemoryEntry]], list[int]] = _told_letters,
) -> Sequence[MemoryEntry]:
    """The newest entries that have no more letters together; the very last one is always there."""
    sizes = sizes_of(entries)
    if sum(sizes) <= letters:
        return entries
    place, size = len(entries) - 1, sizes[-1]
    while place > 0 and (size := size + sizes[place - 1]) <= letters:
        place -= 1
    return entries[place:]


def remember(state: WorldState, entries: Sequence[MemoryEntry], *, limit: int) -> WorldState:
    """The state after everyone in the scene noticed something; thoughts are no part of it.

    A preset may keep very many lines, and every turn stores them with the names of all who noticed them.
    """
    noticed = [entry for entry in entries if entry.kind != "thought"]
    kept = window([*state.actor_shared_history, *noticed], limit)
    history = list(newest_within(kept, LONGEST_HISTORY, sizes_of=_kept_letters))
    return state.model_copy(update={"actor_shared_history": history})


def remember_privately(state: WorldState, entry: MemoryEntry, *, limit: int) -> WorldState:
    """The state after a character thought something.

    Every turn stores what all of them thought: of a giant cast, those who thought something lately keep it.
    """
    thoughts = {id: found for id, found in state.actor_private_memory.items() if id != entry.speaker_id}
    # Who thought last stands last.
    thoughts[entry.speaker_id] = window([*state.actor_private_memory.get(entry.speaker_id, []), entry], limit)
    return state.model_copy(update={"actor_private_memory": _newest_thoughts(thoughts)})


def _newest_thoughts(thoughts: dict[str, list[MemoryEntry]]) -> dict[str, list[MemoryEntry]]:
    """What was thought last, as much of it as is kept of all together."""
    if sum(sum(_told_letters(some)) for some in thoughts.values()) <= LONGEST_THOUGHTS:
        return thoughts
    kept: dict[str, list[MemoryEntry]] = {}
    left = LONGEST_THOUGHTS
    for id, some in reversed(thoughts.items()):
        if left <= 0:
            break
        newest = list(newest_within(some, left))
        left -= sum(_told_letters(newest))
        # The very last thought of somebody is always told, so it may be too long for what is left.
        if left >= 0 or not kept:
            kept[id] = newest
    return dict(reversed(kept.items()))


def reworded(state: WorldState, old: MemoryEntry, new: MemoryEntry | None) -> WorldState:
    """The state in which everyone remembers something differently, or (None) not at all; the newest match counts."""
    history = list(state.actor_shared_history)
    for place in range(len(history) - 1, -1, -1):
        if history[place] == old:
            history[place : place + 1] = [] if new is None else [new]
            return state.model_copy(update={"actor_shared_history": history})
    return state
