"""Start a session: a new play of a story, at its start node, with the variables that the schemas give."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from fabula.actions.care.overview import default_binding
from fabula.actions.house import House
from fabula.actions.library.characters import CharacterSummary, summary_of
from fabula.actions.library.repositories import ALL_STORIES, API_GROUPS, CHARACTERS, PRESETS, SESSIONS, AnyStory
from fabula.actions.plays.play_setup import gather_new_setup, keep_graph
from fabula.actions.plays.sessions import Config, MessageView, message_view, player_name
from fabula.actions.turns.ink_turns import asker_of, open_ink
from fabula.actions.views import Command, View, refuse
from fabula.ports.plays import Finished, NewTurn
from fabula.ports.store import Unit
from fabula.story.changes import opening_state
from fabula.story.graph import graph_problems
from fabula.story.ink_stories import InkStory
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.state import Snapshot, WorldState
from fabula.story.state_hash import state_hash
from fabula.story.stories import Story
from fabula.story.values import JsonObject


class StartSession(Command):
    story_id: str
    display_name: str | None = None
    player_profile_id: str | None = None
    api_group_id: str | None = None
    preset_id: str | None = None
    seed: int | None = Field(default=None, ge=0, le=0x7FFFFFFF)


class SessionStarted(View):
    """`session_id` stands in the envelope; it is repeated here for clients that read only the result."""

    names_session: ClassVar[bool] = True
    optional = frozenset({"ink"})
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
    ink: JsonObject | None = None


async def start_session(house: House, command: StartSession) -> SessionStarted:
    """Starts a new play of a story; an Ink story is told up to its first stop."""
    async with house.store.reading() as unit:
        story = await ALL_STORIES.get(unit, command.story_id)
    if isinstance(story, InkStory):
        return await _start_ink(house, command, story)
    async with house.store.writing() as unit:
        session = await _settings(house, unit, command)
        setup = await gather_new_setup(unit, session)
        refuse(graph_problems(setup.graph), "graph")
        name, description = await player_name(unit, session.player_profile_id)
        start = WorldState(current_node=setup.graph.start_node)
        state = PlayState(
            snapshot=Snapshot(
                story_id=session.story_id,
                player_description=description,
                world_state=start,
            ),
            graph=await keep_graph(unit, setup.graph),
            player_profile_id=session.player_profile_id,
            player_name=name,
        )
        opened = opening_state(setup.graph, setup.bounds(state))
        state = state.with_world(opened.state).entering(setup.graph.start_node)
        stored = await SESSIONS.add(unit, session.session_id, session)
        turn = NewTurn(
            turn_id=house.ids.new("turn"), session_id=session.session_id, parent_id=None, turn_index=0, kind="start"
        )
        finished = Finished(turn_id=turn.turn_id, state=state.as_json(), state_hash=state_hash(state))
        await unit.plays.add(session.session_id, turn, finished)
        cast = await CHARACTERS.get_all(unit, sorted(setup.characters))
    return SessionStarted(
        **dict(session),
        snapshot=state.snapshot,
        history=[],
        created_at_ms=stored.created_at_ms,
        updated_at_ms=stored.updated_at_ms,
        character_summaries=[summary_of(cast[id]) for id in sorted(cast)],
        config=Config(api_group_id=session.api_group_id, preset_id=session.preset_id),
    )


async def _start_ink(house: House, command: StartSession, story: InkStory) -> SessionStarted:
    """The opening may ask a model for texts, so it is told before anything is written."""
    async with house.store.reading() as unit:
        session = await _settings(house, unit, command)
        name, description = await player_name(unit, session.player_profile_id)
        asker = await asker_of(house, unit, session)
    opened = await open_ink(house, story, asker, seed=command.seed, player_name=name, description=description)
    state = opened.state.model_copy(update={"player_profile_id": session.player_profile_id})
    turn = NewTurn(
        turn_id=house.ids.new("turn"), session_id=session.session_id, parent_id=None, turn_index=0, kind="start"
    )
    messages = opened.messages(house, turn.turn_id)
    finished = Finished(
        turn_id=turn.turn_id,
        state=state.as_json(),
        state_hash=state_hash(state),
        messages=messages,
        ended=state.ended,
    )
    async with house.store.writing() as unit:
        stored = await SESSIONS.add(unit, session.session_id, session)
        await unit.plays.add(session.session_id, turn, finished)
    return SessionStarted(
        **dict(session),
        snapshot=state.snapshot,
        history=[message_view(change.message) for change in messages],
        created_at_ms=stored.created_at_ms,
        updated_at_ms=stored.updated_at_ms,
        character_summaries=[],
        config=Config(api_group_id=session.api_group_id, preset_id=session.preset_id),
        ink=opened.view,
    )


async def _settings(house: House, unit: Unit, command: StartSession) -> SessionSettings:
    story: AnyStory = await ALL_STORIES.get(unit, command.story_id)
    group, preset = await default_binding(unit, command.api_group_id, command.preset_id)
    await API_GROUPS.get(unit, group)
    await PRESETS.get(unit, preset)
    return SessionSettings(
        session_id=house.ids.new("session"),
        story_id=story.story_id,
        display_name=(command.display_name or "").strip() or story.display_name,
        player_profile_id=command.player_profile_id or None,
        player_schema_id=story.player_schema_id if isinstance(story, Story) else "",
        api_group_id=group,
        preset_id=preset,
    )
