"""Start a session: a new play of a story, at its start node, with the variables that the schemas give."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.library.characters import CharacterSummary, summary_of
from fabula.actions.plays.kinds.protocol import Opening, Player
from fabula.actions.plays.kinds.rows import kind_of_story
from fabula.actions.plays.sessions import Config, MessageLine, message_lines, player_name, shown_snapshot
from fabula.actions.repositories import ALL_STORIES, API_GROUPS, CHARACTERS, PRESETS, SESSIONS, AnyStory
from fabula.actions.setups.default_binding import default_binding
from fabula.actions.setups.game_systems import system_named
from fabula.actions.views import Command, View
from fabula.loops.turns.follow import follow_with
from fabula.ports.actors import Actor
from fabula.ports.plays import Finished, NewTurn
from fabula.ports.store import Unit
from fabula.ports.work import NewWork
from fabula.story.plays import SessionSettings
from fabula.story.state import Snapshot
from fabula.story.state_hash import state_hash
from fabula.story.values import JsonObject


class StartSession(Command):
    """`seed` makes dice and chance repeatable. `rules` is a game system in place of the story's own, or `none`."""

    story_id: str
    display_name: str | None = None
    player_profile_id: str | None = None
    api_group_id: str | None = None
    preset_id: str | None = None
    seed: int | None = Field(default=None, ge=0, le=0x7FFFFFFF)
    rules: str | None = None


class SessionStarted(View):
    """`session_id` stands in the envelope; it is repeated here for clients that read only the result."""

    names_session: ClassVar[bool] = True
    optional = frozenset({"ink", "rules"})
    type: Literal["session_started"] = "session_started"
    session_id: str
    story_id: str
    display_name: str
    snapshot: Snapshot
    player_profile_id: str | None
    player_schema_id: str
    api_group_id: str
    preset_id: str
    history: list[MessageLine]
    created_at_ms: int
    updated_at_ms: int
    character_summaries: list[CharacterSummary]
    config: Config
    ink: JsonObject | None = None
    rules: str | None = None


@allowed("player")
async def start_session(house: House, actor: Actor, command: StartSession) -> SessionStarted:
    """Starts a new play of a story; an Ink story is told up to its first stop."""
    async with house.store.reading() as unit:
        story = await ALL_STORIES.get(unit, command.story_id)
        session = await _settings(house, unit, command, story)
        name, description = await player_name(unit, actor, session.player_profile_id)
    player, turn_id = Player(name=name, description=description), house.ids.new("turn")
    opening = await kind_of_story(story).open(house, session, player, turn_id=turn_id, seed=command.seed)
    async with house.store.writing() as unit:
        stored = await SESSIONS.add(unit, session.session_id, session)
        follow = await _add_play(house, unit, actor, session.session_id, turn_id, opening)
        cast = await CHARACTERS.get_all(unit, opening.cast)
    if follow is not None:
        house.work.announce(follow)
    return SessionStarted(
        **dict(session),
        snapshot=shown_snapshot(actor, opening.state.snapshot),
        history=await message_lines([change.message for change in opening.messages]),
        created_at_ms=stored.created_at_ms,
        updated_at_ms=stored.updated_at_ms,
        character_summaries=[summary_of(cast[id]) for id in opening.cast],
        config=Config(api_group_id=session.api_group_id, preset_id=session.preset_id),
        **opening.view,
    )


async def _add_play(
    house: House, unit: Unit, actor: Actor, session_id: str, turn_id: str, opening: Opening
) -> NewWork | None:
    for document in opening.documents:
        await unit.blobs.put(document)
    state = opening.state
    turn = NewTurn(turn_id=turn_id, session_id=session_id, parent_id=None, turn_index=0, kind="start")
    finished = Finished(
        turn_id=turn_id,
        state=state.as_json(),
        state_hash=state_hash(state),
        result=opening.result,
        messages=opening.messages,
        ended=state.ended,
        follow=follow_with(house.ids, turn_id, session_id, () if state.world_mark is None else ("world",)),
    )
    await unit.plays.add(session_id, turn, finished, owner_token_id=actor.token_id)
    return finished.follow


async def _settings(house: House, unit: Unit, command: StartSession, story: AnyStory) -> SessionSettings:
    group, preset = await default_binding(unit, command.api_group_id, command.preset_id)
    await API_GROUPS.get(unit, group)
    await PRESETS.get(unit, preset)
    if command.rules is not None:
        await system_named(unit, command.rules)
    return SessionSettings(
        session_id=house.ids.new("session"),
        story_id=story.story_id,
        display_name=(command.display_name or "").strip() or story.display_name,
        player_profile_id=command.player_profile_id or None,
        player_schema_id=story.player_schema_id,
        api_group_id=group,
        preset_id=preset,
        rules=command.rules,
    )
