"""Character sheets of a play: what the game system makes of the variables of the player and the cast."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import ALL_STORIES, SESSIONS
from fabula.actions.setups.game_systems import system_of_play
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.ports.store import Unit
from fabula.rules.sheets import sheet_of, sheet_schema
from fabula.story.checks import PLAYER
from fabula.story.game_systems import GameSystem
from fabula.story.plays import PlayState
from fabula.story.schemas import value_problem
from fabula.story.state import SetCharacterState, SetPlayerState, StateOp, StateUpdate
from fabula.story.values import Json, JsonObject


class NameSheet(Command):
    """`character_id` names a character of the play; without it the sheet is the player's."""

    character_id: str | None = None


class UpdateSheet(NameSheet):
    """`stats` are those that change, by name."""

    stats: dict[str, Json]


class SheetView(View):
    """A sheet with all stats of the game system; what was never written has the system's default."""

    type: Literal["sheet"] = "sheet"
    system_id: str
    character_id: str | None
    stats: JsonObject


@allowed("player")
async def get_sheet(house: House, actor: Actor, session_id: str, command: NameSheet) -> SheetView:
    """Shows the sheet of the player, or of somebody in the play."""
    async with house.store.reading() as unit:
        _, state = await head_state(unit, actor, session_id)
        system = await _system(unit, session_id)
    return _view(system, state, command.character_id)


@allowed("player")
async def update_sheet(house: House, actor: Actor, session_id: str, command: UpdateSheet) -> SheetView:
    """Writes stats on a sheet by hand; going back takes that back like any other change."""

    async def change(at: AtHead) -> tuple[Amendment, GameSystem]:
        system = await _system(at.looking, session_id)
        _variables(at.state, command.character_id)
        schema = sheet_schema(system)
        for name, value in command.stats.items():
            if name not in schema.fields:
                raise InvalidRequest(f"'{name}' is no stat of '{system.system_id}'.")
            if (problem := value_problem(name, value, schema)) is not None:
                raise InvalidRequest(f"The sheet was not changed: {problem}.")
        ops: list[StateOp] = [_op(command.character_id, name, value) for name, value in command.stats.items()]
        return Amendment(state=await kind_of_play(at.state).change_variables(at, StateUpdate(ops=ops))), system

    state, system = await amend(house, actor, session_id, change)
    return _view(system, state, command.character_id)


async def _system(unit: Unit, session_id: str) -> GameSystem:
    session = await SESSIONS.get(unit, session_id)
    story = await ALL_STORIES.get(unit, session.story_id)
    system = await system_of_play(unit, session.rules, story)
    if system is None:
        raise InvalidRequest("This play has no game system. Name one when it starts, or in its story.")
    return system


def _variables(state: PlayState, character_id: str | None) -> JsonObject:
    if character_id is None or character_id == PLAYER:
        return state.world.player_state
    known = character_id in state.world.character_state or character_id in state.session_characters
    if not known and character_id not in state.world.active_characters:
        raise NotFound(f"There is no character named '{character_id}' in this play.", id=character_id)
    return state.world.character_state.get(character_id, {})


def _op(character_id: str | None, name: str, value: Json) -> StateOp:
    if character_id is None or character_id == PLAYER:
        return SetPlayerState(key=name, value=value)
    return SetCharacterState(character=character_id, key=name, value=value)


def _view(system: GameSystem, state: PlayState, character_id: str | None) -> SheetView:
    stats = sheet_of(system, _variables(state, character_id))
    return SheetView(system_id=system.system_id, character_id=character_id, stats=stats)
