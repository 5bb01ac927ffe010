"""Keep sessions: read, rename, rebind and remove plays, and look at their state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.library.player_profiles import profile_of
from fabula.actions.listing import Listing, listed_ids
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.last_lines import last_lines
from fabula.actions.plays.play_states import head_state, own_play_of, play_of
from fabula.actions.plays.shown_lines import lines_up_to
from fabula.actions.plays.world_records import with_applied_version
from fabula.actions.repositories import API_GROUPS, PLAYER_PROFILES, PRESETS, SESSIONS
from fabula.actions.views import Command, ListView, Nothing, View
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.ports.plays import Play, SpokenMessage
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.changes import Bounds
from fabula.story.conversations import Conversation
from fabula.story.feed_events import ConfigChanged, FeedSessionDeleted
from fabula.story.player_views import snapshot_for_players
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.schemas import Schema, ValueType
from fabula.story.stage import CastMember, SceneOnStage
from fabula.story.state import Snapshot
from fabula.story.templates import NAMELESS_PLAYER
from fabula.story.values import Json, JsonObject, Sparse, Value

SHORT_TRANSCRIPT = 200
DELETED = NotFound("The session was deleted while its turn was running.").value()


MOST_LINES = 1000

History = Literal["all", "none"] | Annotated[int, Field(ge=1, le=MOST_LINES)]


class ShowSession(Command):
    """`history` is how much of the transcript is shown: all of it, none, or the newest lines, so many of them. Of a
    very long one its end is shown, about eight megabytes; what is before it can be listed in parts."""

    history: History = "all"


class ListSessions(Listing):
    """Of one story, in one state, or both."""

    story_id: str | None = None
    status: Literal["open", "ended"] | None = None


class RenameSession(ShowSession):
    display_name: str


class UpdateConfig(Command):
    api_group_id: str | None = None
    preset_id: str | None = None
    token_budget: int | None = None


class MessageLine(Value):
    """A line of a transcript. `turn_id` names the turn it was said in; `edited` says that it was corrected by hand.

    A transcript may have tens of thousands of lines, so none of it is written by Python code.
    """

    type: Literal["session_message"] = "session_message"
    message_id: str
    kind: str
    sequence: int
    turn_index: int
    recorded_at_ms: int
    created_at_ms: int
    updated_at_ms: int
    speaker_id: str
    speaker_name: str
    text: str
    turn_id: str
    edited: bool = False


class Wording(Value):
    """How a line read before it was corrected by hand; `updated_at_ms` is when it was worded so."""

    kind: str
    speaker_id: str
    speaker_name: str
    text: str
    updated_at_ms: int


class MessageView(MessageLine, View):
    """One line by itself. `earlier_wordings` are those before it was corrected, oldest first: the first is as told."""

    optional = frozenset({"earlier_wordings"})
    earlier_wordings: list[Wording] = []


class Config(Value):
    api_group_id: str
    preset_id: str


class SessionSummary(View):
    """A session in short. `player_profile_id` is the profile of its head's turn, as in the whole session.

    `last_line` is the beginning of what was told or said last, with the name of who said it; empty where nothing was.
    """

    optional = frozenset({"rules", "max_turns"})
    type: Literal["session_summary"] = "session_summary"
    session_id: str
    story_id: str
    display_name: str
    player_profile_id: str | None
    player_schema_id: str
    api_group_id: str
    preset_id: str
    created_at_ms: int
    updated_at_ms: int
    turn_index: int
    status: str
    story_name: str
    last_line: str
    rules: str | None = None
    max_turns: int | None = None


class SessionView(View):
    """A session with its transcript. `scene` and `cast` are what a player may know of the stage; `ink` tells what an
    Ink story waits for.

    `player_profile_id` names who the player was at the end of the head's turn: it belongs to the turn, as the name in
    prompts does, and follows backtrack, switch_branch, fork and regenerate. The profile may have been deleted since;
    null after the player was described by hand. `rules` is the game system of this play where it is not the story's.
    `conversation` is there while the player talks with somebody.
    """

    may_be_large = True
    optional = frozenset({"active_turn_id", "ink", "rules", "conversation", "max_turns"})
    type: Literal["session"] = "session"
    session_id: str
    story_id: str
    display_name: str
    player_profile_id: str | None
    player_schema_id: str
    api_group_id: str
    preset_id: str
    created_at_ms: int
    updated_at_ms: int
    turn_index: int
    status: str
    head_turn_id: str
    active_turn_id: str | None = None
    state_hash: str
    snapshot: Snapshot
    history: list[MessageLine]
    config: Config
    scene: SceneOnStage
    cast: list[CastMember]
    ink: JsonObject | None = None
    rules: str | None = None
    conversation: Conversation | None = None
    max_turns: int | None = None


class SessionsListed(ListView):
    type: Literal["sessions_listed"] = "sessions_listed"
    sessions: list[SessionSummary]


class SessionDeleted(View):
    type: Literal["session_deleted"] = "session_deleted"
    session_id: str


class RuntimeSnapshot(View):
    type: Literal["runtime_snapshot"] = "runtime_snapshot"
    snapshot: Snapshot


class SessionConfig(View):
    optional = frozenset({"token_budget"})
    type: Literal["session_config"] = "session_config"
    api_group_id: str
    preset_id: str
    token_budget: int | None = None


class ShowVariables(Command):
    """With `types` it is told, too, what each variable may be."""

    types: bool = False


class VariableType(Sparse):
    """What a variable may be, as its schema says; `enum_values` are all that it may be, where it has them."""

    optional = frozenset({"enum_values"})
    scope: Literal["world", "player", "character"]
    owner: str
    key: str
    value_type: ValueType
    enum_values: list[Json] | None = None


class SessionVariables(View):
    """`types` are there when they were asked for; what an Ink story alone may change has none."""

    optional = frozenset({"types"})
    type: Literal["session_variables"] = "session_variables"
    custom: JsonObject
    player_state: JsonObject
    character_state: dict[str, JsonObject]
    types: list[VariableType] | None = None


@allowed("player")
async def get_session(house: House, actor: Actor, session_id: str, command: ShowSession) -> SessionView:
    """Shows a session with its snapshot and its transcript, or the end of it."""
    async with house.store.reading() as unit:
        return await session_view(house, unit, actor, session_id, command.history)


@allowed("player")
async def list_sessions(house: House, actor: Actor, command: ListSessions) -> SessionsListed:
    """Lists the caller's sessions and those they were invited to, in short; an admin sees all.

    By id, or by `order`: "updated" has those first that were played or changed last. `query` finds the words of their
    names and of their stories' names.
    """
    async with house.store.reading() as unit:
        ids, cursor = await listed_ids(
            unit,
            SESSIONS.kind,
            command,
            reached_by=actor.sees_only,
            story_id=command.story_id,
            status=command.status,
        )
        return SessionsListed(sessions=await summaries(unit, ids), next_cursor=cursor)


async def summaries(unit: Unit, session_ids: Sequence[str]) -> list[SessionSummary]:
    """These sessions in short, in the same order; those that are gone or damaged are left out."""
    rows = await unit.resources.get_many("session", session_ids)
    plays, profiles = await unit.plays.get_many(session_ids), await unit.plays.profiles(session_ids)
    there = [rows[id] for id in session_ids if id in rows and id in plays]
    sessions = {row.id: session for row, session in await SESSIONS.read_whole(there)}
    stories = await unit.index.entries("story", [session.story_id for session in sessions.values()])
    lines = await last_lines(unit, [plays[id] for id in sessions])
    return [
        SessionSummary(
            **{**dict(session), "player_profile_id": profiles.get(id)},
            created_at_ms=rows[id].created_at_ms,
            updated_at_ms=max(rows[id].updated_at_ms, plays[id].updated_at_ms),
            turn_index=plays[id].turn_index,
            status=plays[id].status,
            story_name=stories[session.story_id].name,
            last_line=lines[id],
        )
        for id, session in sessions.items()
    ]


@allowed("player")
async def update_session(house: House, actor: Actor, session_id: str, command: RenameSession) -> SessionView:
    """Renames a session."""
    if not command.display_name.strip():
        raise InvalidRequest("Give the session a name: `display_name` is empty.")
    async with house.store.writing() as unit:
        await own_play_of(unit, actor, session_id)
        session = await SESSIONS.get(unit, session_id)
        await SESSIONS.put(unit, session_id, session.model_copy(update={"display_name": command.display_name}))
        await unit.plays.touch(session_id)
        view = await session_view(house, unit.looking, actor, session_id, command.history)
    house.feeds.publish(session_id, ConfigChanged())
    return view


@allowed("player")
async def delete_session(house: House, actor: Actor, session_id: str, command: Nothing) -> SessionDeleted:
    """Removes a session; its turns go too, unless another session was forked from them."""
    async with house.store.writing() as unit:
        play = await own_play_of(unit, actor, session_id)
        await SESSIONS.remove(unit, session_id)
        await unit.plays.remove(session_id)
        if play.active_turn_id is not None:
            await unit.work.cancel(play.active_turn_id, DELETED)
    if play.active_turn_id is not None:
        await house.work.stop(play.active_turn_id)
    house.feeds.publish(session_id, FeedSessionDeleted())
    return SessionDeleted(session_id=session_id)


@allowed("player")
async def get_runtime_snapshot(house: House, actor: Actor, session_id: str, command: Nothing) -> RuntimeSnapshot:
    """Shows the snapshot at the session's head."""
    async with house.store.reading() as unit:
        _, state = await head_state(unit, actor, session_id)
        return RuntimeSnapshot(snapshot=shown_snapshot(actor, await with_applied_version(unit, state)))


@allowed("player")
async def get_variables(house: House, actor: Actor, session_id: str, command: ShowVariables) -> SessionVariables:
    """Shows the variables of world, player and characters."""
    async with house.store.reading() as unit:
        state = (await head_state(unit, actor, session_id))[1]
        view = variables_view(state)
        if not command.types:
            return view
        bounds = await kind_of_play(state).bounds(house, unit, await SESSIONS.get(unit, session_id), state)
    return view.model_copy(update={"types": _types(view, bounds)})


@allowed("player")
async def get_config(house: House, actor: Actor, session_id: str, command: Nothing) -> SessionConfig:
    """Shows which models and prompts a session uses, and its token budget if it has one."""
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        return _config(await SESSIONS.get(unit, session_id), play)


@allowed("player")
async def update_config(house: House, actor: Actor, session_id: str, command: UpdateConfig) -> SessionConfig:
    """Chooses other models or prompts for the turns to come, or limits the tokens; a budget of 0 lifts the limit."""
    if command.token_budget is not None and command.token_budget < 0:
        raise InvalidRequest("A token budget is a positive number, or 0 for none.")
    async with house.store.writing() as unit:
        await own_play_of(unit, actor, session_id)
        if command.token_budget is not None:
            actor.must_be("author", "Changing a token budget")
        session = await SESSIONS.get(unit, session_id)
        if command.api_group_id is not None:
            await API_GROUPS.get(unit.looking, command.api_group_id)
        if command.preset_id is not None:
            await PRESETS.get(unit.looking, command.preset_id)
        changes = command.model_dump(exclude={"token_budget"}, exclude_none=True)
        session = session.model_copy(update=changes)
        await SESSIONS.put(unit, session_id, session)
        await unit.plays.touch(session_id)
        if command.token_budget is not None:
            await unit.plays.set_budget(session_id, command.token_budget or None)
        config = _config(session, await play_of(unit, actor, session_id))
    house.feeds.publish(session_id, ConfigChanged())
    return config


async def player_name(unit: Unit, actor: Actor, player_profile_id: str | None) -> tuple[str, str]:
    """The name and description of a profile; without one the player is nameless."""
    if player_profile_id is None:
        return NAMELESS_PLAYER, ""
    profile = await profile_of(unit, actor, player_profile_id)
    return profile.display_name, profile.description


async def existing_profile(unit: Unit, player_profile_id: str | None) -> str | None:
    """The profile that a turn names, unless it was deleted since."""
    if player_profile_id is None or await PLAYER_PROFILES.find(unit.looking, player_profile_id) is None:
        return None
    return player_profile_id


async def hold_profile(unit: Unit, session_id: str, player_profile_id: str | None) -> None:
    """Keeps this profile, and no other, from being deleted while the session stands where it does."""
    session = await SESSIONS.get(unit, session_id)
    if session.player_profile_id != player_profile_id:
        held = session.model_copy(update={"player_profile_id": player_profile_id})
        await SESSIONS.put(unit, session_id, held)


async def session_view(house: House, unit: Unit, actor: Actor, session_id: str, history: History) -> SessionView:
    """A session as clients show it."""
    play, state = await head_state(unit, actor, session_id)
    stored = await unit.resources.get("session", session_id)
    if stored is None:
        raise SESSIONS.missing(session_id)
    session = SESSIONS.read(stored)
    head = await unit.plays.turn(play.head_turn_id)
    kind = kind_of_play(state)
    stage = await kind.on_stage(house, unit, session, state)
    return SessionView(
        **{**dict(session), "player_profile_id": state.player_profile_id},
        created_at_ms=stored.created_at_ms,
        updated_at_ms=max(stored.updated_at_ms, play.updated_at_ms),
        turn_index=play.turn_index,
        status="ended" if state.ended else "open",
        head_turn_id=play.head_turn_id,
        active_turn_id=play.active_turn_id,
        state_hash=(head.state_hash if head is not None else None) or "",
        snapshot=shown_snapshot(actor, await with_applied_version(unit, state)),
        history=await message_lines(await _shown_lines(unit, play.head_turn_id, history)),
        config=Config(api_group_id=session.api_group_id, preset_id=session.preset_id),
        scene=stage.scene,
        cast=stage.cast,
        **kind.view(state),
    )


async def _shown_lines(unit: Unit, turn_id: str, history: History) -> list[SpokenMessage]:
    if history == "none":
        return []
    return (await lines_up_to(unit, turn_id, limit=None if history == "all" else history)).messages


def shown_snapshot(actor: Actor, snapshot: Snapshot) -> Snapshot:
    """A snapshot as an actor may see it."""
    return snapshot if actor.sees_plans else snapshot_for_players(snapshot)


def message_view(message: SpokenMessage, earlier: Sequence[SpokenMessage] = ()) -> MessageView:
    names = Wording.model_fields
    wordings = [Wording(**{name: getattr(one, name) for name in names}) for one in earlier]
    return MessageView(**_shown_fields(message), earlier_wordings=wordings)


async def message_lines(messages: Sequence[SpokenMessage]) -> list[MessageLine]:
    """A transcript as clients show it; the event loop does not wait for a long one."""
    return _lines(messages) if len(messages) <= SHORT_TRANSCRIPT else await run_in_thread(_lines, messages)


def _lines(messages: Sequence[SpokenMessage]) -> list[MessageLine]:
    return [MessageLine(**_shown_fields(message)) for message in messages]


def _shown_fields(message: SpokenMessage) -> dict[str, Any]:
    """What clients see of a line: who noticed it is for prompts and memories."""
    fields = vars(message).copy()
    del fields["heard_by"]
    return fields


def variables_view(state: PlayState) -> SessionVariables:
    world = state.snapshot.world_state
    return SessionVariables(custom=world.custom, player_state=world.player_state, character_state=world.character_state)


def _types(view: SessionVariables, bounds: Bounds) -> list[VariableType]:
    """What each variable that is shown may be: of the others a player learns nothing."""
    shown: list[tuple[Literal["world", "player", "character"], str, Schema | None, JsonObject]] = [
        ("world", "", bounds.world, view.custom),
        ("player", "", bounds.player, view.player_state),
        *(("character", owner, bounds.characters.get(owner), own) for owner, own in view.character_state.items()),
    ]
    return [
        VariableType(scope=scope, owner=owner, key=key, value_type=field.value_type, enum_values=field.enum_values)
        for scope, owner, schema, values in shown
        if schema is not None
        for key, field in schema.fields.items()
        if key in values
    ]


def _config(session: SessionSettings, play: Play) -> SessionConfig:
    return SessionConfig(api_group_id=session.api_group_id, preset_id=session.preset_id, token_budget=play.token_budget)
