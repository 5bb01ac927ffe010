"""Start a session: a new play of a story, at its start node, with the variables that the schemas give."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.library.characters import CharacterSummary, summary_of
from fabula.actions.library.free_stories import keep_free_story
from fabula.actions.plays.kinds.protocol import Opening, Player
from fabula.actions.plays.kinds.rows import kind_of_story
from fabula.actions.plays.sessions import Config, MessageLine, message_lines, player_name, shown_snapshot
from fabula.actions.repositories import ALL_STORIES, API_GROUPS, CHARACTERS, PRESETS, SESSIONS, WORLDS, AnyStory
from fabula.actions.setups.default_binding import default_binding
from fabula.actions.setups.game_systems import system_named
from fabula.actions.setups.seen_canon import world_id_of
from fabula.actions.views import Command, View
from fabula.loops.turns.follow import follow_with
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidParams
from fabula.ports.plays import Finished, NewTurn
from fabula.ports.store import Stored, Unit
from fabula.ports.work import NewWork
from fabula.story.plays import SessionSettings
from fabula.story.resources import Character
from fabula.story.session_zero import SessionZero
from fabula.story.state import Snapshot
from fabula.story.state_hash import state_hash
from fabula.story.values import Json, JsonObject


class StartSession(Command):
    """Names a story, or a world for free play in it. `seed` makes dice, chance and the telling repeatable: the
    same words get the same answers, with a model as far as it heeds seeds or its answers are kept. `rules` is a game
    system in place of the story's own, or `none`. `max_turns` is how many turns a scene of free play has at most."""

    story_id: str | None = None
    world_id: str | None = None
    display_name: str | None = None
    player_profile_id: str | None = None
    api_group_id: str | None = None
    preset_id: str | None = None
    seed: int | None = Field(default=None, ge=0, le=0x7FFFFFFF)
    rules: str | None = None
    max_turns: int | None = Field(default=None, ge=1, le=1000)


class SessionStarted(View):
    """`session_id` stands in the envelope; it is repeated here for clients that read only the result."""

    names_session: ClassVar[bool] = True
    optional = frozenset({"ink", "rules", "max_turns"})
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
    max_turns: int | None = None


@allowed("player")
async def start_session(house: House, actor: Actor, command: StartSession) -> SessionStarted:
    """Starts a new play of a story, or free play in a world; an Ink story is told up to its first stop."""
    story_id = await _story_id(house, actor, command)
    async with house.store.reading() as unit:
        story = await ALL_STORIES.get(unit, story_id)
        session = await _settings(house, unit, command, story)
        name, description = await player_name(unit, actor, session.player_profile_id)
    player, turn_id = Player(name=name, description=description, token_id=actor.token_id), house.ids.new("turn")
    kind = kind_of_story(story)
    opening = await kind.open(house, session, player, turn_id=turn_id, seed=command.seed)

    async def write(unit: Unit) -> tuple[Stored, Opening, NewWork | None, dict[str, Character]]:
        stored = await SESSIONS.add(unit, session.session_id, session)
        opened = await _with_session_zero(unit.looking, story, opening) if kind.has_scenes else opening
        follow = await _add_play(house, unit, actor, session.session_id, turn_id, opened)
        return stored, opened, follow, await CHARACTERS.get_all(unit.looking, opened.cast)

    stored, opening, follow, cast = await house.store.write(write)
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


async def _with_session_zero(unit: Unit, story: AnyStory, opening: Opening) -> Opening:
    """The opening of a play that begins with premise and themes of its world, whose boundaries count as long as they
    stand there."""
    world = await WORLDS.find(unit, world_id_of(story))
    if world is None or world.session_zero is None:
        return opening
    agreed = SessionZero(premise=world.session_zero.premise, themes=world.session_zero.themes)
    return replace(
        opening, state=opening.state.model_copy(update={"session_zero": None if agreed.is_empty else agreed})
    )


async def _story_id(house: House, actor: Actor, command: StartSession) -> str:
    """The story that is played. That of a world's free plays is made anew, which is for authors."""
    if command.world_id is not None and command.story_id is None:
        actor.must_be("author", "To play in a world that has no story")
        world_id = command.world_id
        return (await house.store.write(lambda unit: keep_free_story(unit, world_id))).story_id
    if command.story_id is None or command.world_id is not None:
        missing: list[Json] = [{"field": "story_id", "message": "Field required"}]
        raise InvalidParams("Name a story with `story_id`, or a world with `world_id`.", errors=missing)
    return command.story_id


async def _add_play(
    house: House, unit: Unit, actor: Actor, session_id: str, turn_id: str, opening: Opening
) -> NewWork | None:
    # In one order: plays of one story count up the same bytes.
    for document in sorted(opening.documents):
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
        max_turns=command.max_turns,
    )
