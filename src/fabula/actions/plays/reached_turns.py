"""Turns that may be looked at or gone to: a tree is shared with whoever forked from it, and their turns are theirs."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.plays.play_states import reaches
from fabula.actions.repositories import checked_name
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.ports.plays import Play, Turn
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.error_values import Hint
from fabula.story.turn_tree import TurnPlace, reached


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
    return turn.tree_id == play.tree_id and bool(await turns_within_reach(unit, actor, play, [turn]))


async def turns_within_reach(unit: Unit, actor: Actor, play: Play, turns: Sequence[Turn]) -> list[Turn]:
    """Those turns of a play's tree that the actor may see; the tree is read only where nothing else tells."""
    if actor.may_act_as("admin"):
        return list(turns)
    heads = await reached_heads(unit, actor, play)
    sessions = {head.session_id for head in heads}
    seen = {turn.turn_id for turn in turns if turn.session_id in sessions}
    # Most turns of others that one may see led to where one stands, and that is found without reading the tree.
    for head in heads:
        seen |= await unit.plays.on_line(head.head_turn_id, [one.turn_id for one in turns if one.turn_id not in seen])
    if any(turn.turn_id not in seen for turn in turns):
        seen |= reached(await unit.plays.shape(play.tree_id), sessions, ())
    return [turn for turn in turns if turn.turn_id in seen]


async def tree_within_reach(unit: Unit, actor: Actor, play: Play) -> list[TurnPlace]:
    """The completed turns of a play's tree that the actor may see, in short."""
    places = await unit.plays.shape(play.tree_id)
    if not actor.may_act_as("admin"):
        heads = await reached_heads(unit, actor, play)
        sessions, ends = {head.session_id for head in heads}, [head.head_turn_id for head in heads]
        seen = await run_in_thread(reached, places, sessions, ends)
        places = [place for place in places if place.turn_id in seen]
    return [place for place in places if place.status not in ("failed", "cancelled")]


async def reached_heads(unit: Unit, actor: Actor, play: Play) -> list[Play]:
    """The sessions on a play's tree that the actor reaches."""
    return [head for head in await unit.plays.heads(play.tree_id) if await reaches(unit, actor, head)]


def turns_of(turns: Sequence[Turn], heads: Sequence[Play]) -> list[Turn]:
    """The turns of a tree that belong to some of its sessions: what they played, and what led there."""
    seen = reached(turns, {head.session_id for head in heads}, [head.head_turn_id for head in heads])
    return [turn for turn in turns if turn.turn_id in seen]
