"""Change who the player is, and the variables of a play."""

from __future__ import annotations

from typing import Literal

from fabula.actions.house import House
from fabula.actions.library.repositories import SESSIONS
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.sessions import SessionVariables, SessionView, player_name, session_view, variables_view
from fabula.actions.views import Command, View
from fabula.ports.errors import InvalidRequest
from fabula.story.changes import apply_all
from fabula.story.state import Snapshot, StateUpdate

VARIABLE_OPS = (
    "SetState",
    "RemoveState",
    "SetPlayerState",
    "RemovePlayerState",
    "SetCharacterState",
    "RemoveCharacterState",
)


class SetPlayerProfile(Command):
    player_profile_id: str | None = None


class UpdatePlayerDescription(Command):
    player_description: str


class UpdateVariables(Command):
    update: StateUpdate


class PlayerDescriptionUpdated(View):
    type: Literal["player_description_updated"] = "player_description_updated"
    snapshot: Snapshot


async def set_player_profile(house: House, session_id: str, command: SetPlayerProfile) -> SessionView:
    """Lets the player be someone else: name and description change, variables stay."""

    async def change(at: AtHead) -> tuple[Amendment, None]:
        name, description = await player_name(at.unit, command.player_profile_id)
        snapshot = at.state.snapshot.model_copy(update={"player_description": description})
        profile = command.player_profile_id
        await _bind_profile(at, profile)
        update = {"snapshot": snapshot, "player_profile_id": profile, "player_name": name}
        return Amendment(state=at.state.model_copy(update=update)), None

    await amend(house, session_id, change)
    async with house.store.reading() as unit:
        return await session_view(unit, session_id)


async def update_player_description(
    house: House, session_id: str, command: UpdatePlayerDescription
) -> PlayerDescriptionUpdated:
    """Describes the player anew by hand; the session is no longer bound to a profile."""

    async def change(at: AtHead) -> tuple[Amendment, None]:
        snapshot = at.state.snapshot.model_copy(update={"player_description": command.player_description})
        await _bind_profile(at, None)
        return Amendment(state=at.state.model_copy(update={"snapshot": snapshot, "player_profile_id": None})), None

    state, _ = await amend(house, session_id, change)
    return PlayerDescriptionUpdated(snapshot=state.snapshot)


async def update_variables(house: House, session_id: str, command: UpdateVariables) -> SessionVariables:
    """Changes variables by hand; all operations must be allowed by the schemas, or none is applied."""
    for op in command.update.ops:
        if op.type not in VARIABLE_OPS:
            raise InvalidRequest(f"{op.type} is not allowed here: only variables can be changed by hand.")

    async def change(at: AtHead) -> tuple[Amendment, None]:
        setup = await at.setup()
        applied = apply_all(command.update.ops, at.state.snapshot.world_state, setup.bounds(at.state))
        if applied.refused:
            raise InvalidRequest(f"The variables were not changed: {applied.refused[0].reason}.")
        return Amendment(state=at.state.with_world(applied.state)), None

    state, _ = await amend(house, session_id, change)
    return variables_view(state)


async def _bind_profile(at: AtHead, player_profile_id: str | None) -> None:
    session = await SESSIONS.get(at.unit, at.play.session_id)
    bound = session.model_copy(update={"player_profile_id": player_profile_id})
    await SESSIONS.put(at.unit, at.play.session_id, bound)
