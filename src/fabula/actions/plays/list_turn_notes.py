"""Show what stands in the margin beside turns, for whoever opens a play again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import play_of, state_at
from fabula.actions.plays.reached_turns import turns_within_reach
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.plays import Turn
from fabula.ports.store import Unit
from fabula.story.turn_notes import TurnNotes, notes_of

MOST_TURNS = 24


class ListTurnNotes(Command):
    """The turns whose notes are wanted; those that are not there have none."""

    turn_ids: list[str] = Field(min_length=1, max_length=MOST_TURNS)


class TurnNotesListed(View):
    """`scenes` has the titles of the scenes that are named in the notes."""

    may_be_large = True
    type: Literal["session_turn_notes"] = "session_turn_notes"
    turns: list[TurnNotes]
    scenes: dict[str, str]


@allowed("player")
async def list_turn_notes(house: House, actor: Actor, session_id: str, command: ListTurnNotes) -> TurnNotesListed:
    """Tells what turns changed, and on whose word; thoughts only to whoever may see them."""
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        turns = (await unit.plays.turns(command.turn_ids)).values()
        own = [turn for turn in turns if turn.tree_id == play.tree_id]
        found = [await _notes(unit, actor, turn) for turn in await turns_within_reach(unit, actor, play, own)]
        notes = [one for one in found if one is not None]
        titles: Mapping[str, str] = {}
        if any(one.scene for one in notes):
            state = await state_at(unit, play.head_turn_id)
            titles = await kind_of_play(state).scene_titles(house, unit, state)
    scenes = {one.scene: titles[one.scene] for one in notes if one.scene is not None and one.scene in titles}
    return TurnNotesListed(turns=notes, scenes=scenes)


async def _notes(unit: Unit, actor: Actor, turn: Turn) -> TurnNotes | None:
    result = await unit.plays.result(turn.turn_id)
    if result is None:
        return None
    before = None
    if turn.parent_id is not None:
        before = (await state_at(unit, turn.parent_id)).snapshot.world_state.as_json()
    return notes_of(turn.turn_id, result, before, thoughts=actor.sees_plans)
