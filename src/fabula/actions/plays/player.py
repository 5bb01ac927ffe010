"""Change who the player is, and the variables of a play."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.sessions import (
    SessionVariables,
    SessionView,
    ShowSession,
    hold_profile,
    player_name,
    session_view,
    shown_snapshot,
    variables_view,
)
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.story.state import Snapshot, StateUpdate
from fabula.story.values import texts_in


class SetPlayerProfile(ShowSession):
    player_profile_id: str | None = None


class UpdatePlayerDescription(Command):
    player_description: str


class UpdateVariables(Command):
    update: StateUpdate


class PlayerDescriptionUpdated(View):
    type: Literal["player_description_updated"] = "player_description_updated"
    snapshot: Snapshot


@allowed("player")
async def set_player_profile(house: House, actor: Actor, session_id: str, command: SetPlayerProfile) -> SessionView:
    """Lets the player be someone else from here on: name and description change, variables stay.

    The profile belongs to the turns that follow; going back to an earlier turn brings back who played it.
    """

    async def change(at: AtHead) -> tuple[Amendment, None]:
        name, description = await player_name(at.looking, actor, command.player_profile_id)
        snapshot = at.state.snapshot.model_copy(update={"player_description": description})
        profile = command.player_profile_id
        await hold_profile(at.unit, at.play.session_id, profile)
        update = {"snapshot": snapshot, "player_profile_id": profile, "player_name": name}
        return Amendment(state=at.state.model_copy(update=update)), None

    await amend(house, actor, session_id, change)
    async with house.store.reading() as unit:
        return await session_view(house, unit, actor, session_id, command.history)


@allowed("player")
async def update_player_description(
    house: House, actor: Actor, session_id: str, command: UpdatePlayerDescription
) -> PlayerDescriptionUpdated:
    """Describes the player anew by hand; the session is no longer bound to a profile, and the player has no name."""

    async def change(at: AtHead) -> tuple[Amendment, None]:
        described = kind_of_play(at.state).describe_player(at.state, command.player_description)
        await hold_profile(at.unit, at.play.session_id, None)
        return Amendment(state=described), None

    state, _ = await amend(house, actor, session_id, change)
    return PlayerDescriptionUpdated(snapshot=shown_snapshot(actor, state.snapshot))


@allowed("player")
async def update_variables(house: House, actor: Actor, session_id: str, command: UpdateVariables) -> SessionVariables:
    """Changes variables by hand; all operations must be allowed by the schemas, or none is applied."""

    async def change(at: AtHead) -> tuple[Amendment, None]:
        words = [text for op in command.update.ops for text in texts_in(getattr(op, "value", None))]
        state = await kind_of_play(at.state).change_variables(at, command.update)
        return Amendment(state=state, inputs=words), None

    state, _ = await amend(house, actor, session_id, change)
    return variables_view(state)
