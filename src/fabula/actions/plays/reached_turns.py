"""Turns that may be looked at or gone to: a tree is shared with whoever forked from it, and their turns are theirs."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.plays.play_states import reaches
from fabula.actions.repositories import checked_name
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.ports.plays import Play, Turn
from fabula.ports.store import Unit
from fabula.story.error_values import Hint


async def turn_within_reach(unit: Unit, actor: Actor, play: Play, turn_id: str) -> Turn:
    """A turn that the actor may see. Of other people's turns nobody is told that they exist."""
    turn = await unit.plays.turn(checked_name(turn_id, "turn"))
    if turn is None or not await _is_within_reach(unit, actor, play, turn):
        raise NotFound(f"There is no turn named '{turn_id}'.", hint=Hint.LIST_BRANCHES)
    return turn


async def completed_turn_of(unit: Unit, actor: Actor, play: Play, turn_id: str | None) -> Turn | None:
    """A completed turn of this play's tree whose line is to be read; None where none is named."""
    if turn_id is None:
        return None
    turn = await turn_within_reach(unit, actor, play, turn_id)
    if turn.tree_id != play.tree_id:
        raise InvalidRequest(f"The turn '{turn_id}' belongs to another play.", hint=Hint.LIST_BRANCHES)
    return completed(turn)


def completed(turn: Turn) -> Turn:
    """A turn that left a state and lines behind; one that failed did not."""
    if turn.status != "committed":
        raise InvalidRequest(f"The turn '{turn.turn_id}' was not completed.", hint=Hint.LIST_BRANCHES)
    return turn


async def _is_within_reach(unit: Unit, actor: Actor, play: Play, turn: Turn) -> bool:
    if actor.may_act_as("admin") or turn.session_id == play.session_id:
        return True
    if turn.tree_id != play.tree_id:
        return False
    # Most turns of others that one may see led to where one stands, and that is found without reading the tree.
    if await unit.plays.on_line(play.head_turn_id, [turn.turn_id]):
        return True
    heads = [head for head in await unit.plays.heads(play.tree_id) if await reaches(unit, actor, head)]
    return turn.turn_id in {one.turn_id for one in turns_of(await unit.plays.tree(play.tree_id), heads)}


def turns_of(turns: Sequence[Turn], heads: Sequence[Play]) -> list[Turn]:
    """The turns of a tree that belong to some of its sessions: what they played, and what led there."""
    known = {turn.turn_id: turn for turn in turns}
    sessions = {head.session_id for head in heads}
    found: set[str] = set()
    starts = [turn.turn_id for turn in turns if turn.session_id in sessions] + [head.head_turn_id for head in heads]
    for start in starts:
        step = known.get(start)
        while step is not None and step.turn_id not in found:
            found.add(step.turn_id)
            step = known.get(step.parent_id or "")
    return [turn for turn in turns if turn.turn_id in found]
