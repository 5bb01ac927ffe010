"""Start a session: a new play of a story, at its start node, with the variables that the schemas give."""

from __future__ import annotations

from typing import ClassVar, Literal

from fabula.actions.characters import CharacterSummary, summary_of
from fabula.actions.gather import gather_new_bundle, keep_graph
from fabula.actions.house import House
from fabula.actions.overview import default_binding
from fabula.actions.sessions import Config, MessageView, player_name
from fabula.actions.shelves import API_GROUPS, CHARACTERS, PRESETS, SESSIONS, STORIES
from fabula.actions.views import Command, View, refuse
from fabula.ports.plays import Finished, NewTurn
from fabula.ports.store import Unit
from fabula.story.changes import opening_state
from fabula.story.graph import graph_problems
from fabula.story.hashing import state_hash
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.state import Snapshot, WorldState


class StartSession(Command):
    story_id: str
    display_name: str | None = None
    player_profile_id: str | None = None
    api_group_id: str | None = None
    preset_id: str | None = None


class SessionStarted(View):
    """`session_id` stands in the envelope; it is repeated here for clients that read only the result."""

    names_session: ClassVar[bool] = True
    type: Literal["session_started"] = "session_started"
    session_id: str
    story_id: str
    display_name: str
    snapshot: Snapshot
    player_profile_id: str | None
    player_schema_id: str
    api_group_id: str
    preset_id: str
    history: list[MessageView]
    created_at_ms: int
    updated_at_ms: int
    character_summaries: list[CharacterSummary]
    config: Config


async def start_session(house: House, command: StartSession) -> SessionStarted:
    """Starts a new play of a story."""
    async with house.store.writing() as unit:
        session = await _settings(house, unit, command)
        bundle = await gather_new_bundle(unit, session)
        refuse(graph_problems(bundle.graph), "graph")
        name, description = await player_name(unit, session.player_profile_id)
        start = WorldState(current_node=bundle.graph.start_node)
        state = PlayState(
            snapshot=Snapshot(
                story_id=session.story_id,
                player_description=description,
                world_state=start,
            ),
            graph=await keep_graph(unit, bundle.graph),
            player_profile_id=session.player_profile_id,
            player_name=name,
        )
        opened = opening_state(bundle.graph, bundle.bounds(state))
        state = state.with_world(opened.state)
        stored = await SESSIONS.add(unit, session.session_id, session)
        turn = NewTurn(
            turn_id=house.ids.new("turn"), session_id=session.session_id, parent_id=None, turn_index=0, kind="start"
        )
        finished = Finished(turn_id=turn.turn_id, state=state.as_json(), state_hash=state_hash(state))
        await unit.plays.add(session.session_id, turn, finished)
        cast = await CHARACTERS.get_all(unit, sorted(bundle.characters))
    return SessionStarted(
        **dict(session),
        snapshot=state.snapshot,
        history=[],
        created_at_ms=stored.created_at_ms,
        updated_at_ms=stored.updated_at_ms,
        character_summaries=[summary_of(cast[id]) for id in sorted(cast)],
        config=Config(api_group_id=session.api_group_id, preset_id=session.preset_id),
    )


async def _settings(house: House, unit: Unit, command: StartSession) -> SessionSettings:
    story = await STORIES.get(unit, command.story_id)
    group, preset = await default_binding(unit, command.api_group_id, command.preset_id)
    await API_GROUPS.get(unit, group)
    await PRESETS.get(unit, preset)
    return SessionSettings(
        session_id=house.ids.new("session"),
        story_id=story.story_id,
        display_name=(command.display_name or "").strip() or story.display_name,
        player_profile_id=command.player_profile_id or None,
        player_schema_id=story.player_schema_id,
        api_group_id=group,
        preset_id=preset,
    )
