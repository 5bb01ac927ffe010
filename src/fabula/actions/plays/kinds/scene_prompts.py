"""What the roles of a scene would be told at a session's head."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.plays.kinds.graph_turns import past_summary
from fabula.actions.plays.kinds.protocol import RoleQuestion
from fabula.actions.plays.play_states import past_of
from fabula.actions.plays.shown_lines import last_lines_told
from fabula.actions.setups.prompt_canon import canon_around, seen_from
from fabula.agents.windows import windows_of
from fabula.loops.conversations.conversation_run import apart
from fabula.loops.conversations.replies import conversation_context
from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.scene.resolution import PLAYER
from fabula.loops.turns.turn_state_cache import PastSummary, entry_of
from fabula.ports.errors import InvalidRequest
from fabula.ports.plays import SpokenMessage
from fabula.ports.store import Unit
from fabula.recall.perception import noticed_in_beat
from fabula.story.changes import remember
from fabula.story.contexts import ActorContext, CanonNote, ReplyerContext, RoleContext
from fabula.story.past_lines import newest_lines
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry

NARRATION_SHARE = 4
"""Older narration is left out, so more messages are read than are shown."""


async def scene_context(
    unit: Unit, setup: PlaySetup, state: PlayState, head_turn_id: str, asked: RoleQuestion
) -> RoleContext:
    """All that a role is told."""
    if asked.role == "replyer":
        return await _replyer_context(unit, setup, state, head_turn_id, asked.reply_limit)
    talking = state.conversation
    state = state if talking is None else apart(state, talking)
    past = await past_of(unit, head_turn_id, setup.past_lines)
    so_far = await past_summary(unit, setup, head_turn_id, state, past)
    canon = await canon_around(unit, setup, state, at=await seen_from(unit, setup, state))
    context = _turn_context(teller := _teller(setup, state, asked, past, so_far, canon), setup, asked)
    if talking is not None and isinstance(context, ActorContext):
        return conversation_context(state, teller, talking, context.actor.id)
    return context


async def _replyer_context(
    unit: Unit, setup: PlaySetup, state: PlayState, head_turn_id: str, limit: int
) -> ReplyerContext:
    """What the replyer is told: the scene, and the last lines of the transcript."""
    shown = windows_of("replyer", setup.agent("replyer")).session
    messages = await last_lines_told(unit, head_turn_id, max(shown * NARRATION_SHARE, 1))
    here = Scene(previous_node_id=state.world.current_node, previous_cast=state.world.active_characters)
    past = await past_of(unit, head_turn_id, setup.past_lines)
    so_far = await past_summary(unit, setup, head_turn_id, state, past)
    teller = SceneTeller(
        setup, state, here, "", past, turn_index=state.snapshot.turn_index, so_far=so_far.text if so_far else ""
    )
    return teller.replyer(limit, fresh_lines(messages, shown))


def fresh_lines(messages: list[SpokenMessage], shown: int) -> list[MemoryEntry]:
    """The last lines, oldest first; of the narration only what the latest narrated turn told."""
    narrated = [message.turn_id for message in messages if message.kind == "narration"]
    kept = [message for message in messages if message.kind != "narration" or message.turn_id == narrated[-1]]
    return [entry_of(message) for message in newest_lines(kept[max(len(kept) - shown, 0) :])]


def _teller(
    setup: PlaySetup,
    state: PlayState,
    asked: RoleQuestion,
    past: list[MemoryEntry],
    so_far: PastSummary | None,
    canon: Sequence[CanonNote],
) -> SceneTeller:
    """A turn as it begins: what the player says now is already part of what everyone noticed."""
    said = [
        MemoryEntry(speaker_id=PLAYER, speaker_name=state.player_name, kind="player_input", text=text)
        for text in (asked.player_input,)
        if text
    ]
    there = state.world.active_characters
    said = noticed_in_beat(said, there, setup.names_of(there, state))
    play = state.with_world(remember(state.world, said, limit=setup.shared_window))
    scene = _scene(setup, state, asked).after(said)
    index = state.snapshot.turn_index + 1
    told = so_far.text if so_far else ""
    return SceneTeller(setup, play, scene, asked.player_input, past, turn_index=index, so_far=told, canon=canon)


def _turn_context(teller: SceneTeller, setup: PlaySetup, asked: RoleQuestion) -> RoleContext:
    match asked.role:
        case "narrator":
            return teller.narrator(asked.narrator_purpose or "describe_scene")
        case "actor":
            if not asked.character_id:
                raise InvalidRequest("A preview for the actor needs `character_id`.")
            if not teller.knows(asked.character_id):
                raise InvalidRequest(f"There is no character '{asked.character_id}' in this session.")
            return teller.actor(asked.character_id, asked.actor_purpose or "react_to_player")
        case "keeper":
            return teller.keeper(asked.keeper_phase or "after_player_input", [])
        case _:
            return teller.swift() if setup.swift else teller.director()


def _scene(setup: PlaySetup, state: PlayState, asked: RoleQuestion) -> Scene:
    here, before = state.world.current_node, asked.previous_node_id or state.world.current_node
    if before not in setup.nodes:
        raise InvalidRequest(f"There is no node '{before}' in the graph that this session plays.")
    cast = state.world.active_characters if before == here else setup.nodes[before].characters
    return Scene(previous_node_id=before, previous_cast=cast, transitioned=before != here)
