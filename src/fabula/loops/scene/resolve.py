"""Resolve: the player's words are recorded, the keeper looks at them, the story moves on if it may, a plan is made."""

from __future__ import annotations

from fabula.agents.replies.director import fallback_plan, read_response_plan
from fabula.loops.scene.asking import propose
from fabula.loops.scene.contexts import Scene
from fabula.loops.scene.desk import Desk, during
from fabula.loops.scene.keeping import Kept, applied, ask_keeper
from fabula.story.changes import enter, remember
from fabula.story.contexts import KeeperContext
from fabula.story.graph import Transition, open_transition
from fabula.story.plans import ResponsePlan
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry, StateUpdate
from fabula.story.values import JsonObject

PLAYER = "player"


def record_input(desk: Desk) -> PlayState:
    """The state after the player spoke; everyone in the scene noticed."""
    before, stage, words = desk.before, desk.stage, desk.turn.player_input
    stage.tell("turn_started", next_turn_index=before.snapshot.turn_index + 1, player_input=words)
    entry = player_entry(desk)
    play = before.with_world(remember(before.world, [entry], limit=desk.bundle.shared_window))
    stage.tell("player_input_recorded", entry=entry.as_json(), snapshot=play.snapshot.as_json())
    return play


def player_entry(desk: Desk) -> MemoryEntry:
    """The player's words as everyone notices them."""
    return MemoryEntry(
        speaker_id=PLAYER,
        speaker_name=desk.before.player_name,
        kind="player_input",
        text=desk.turn.player_input,
    )


def scene_here(desk: Desk, play: PlayState) -> Scene:
    """The scene as the turn finds it."""
    world = play.world
    noticed = [player_entry(desk)]
    return Scene(previous_node_id=world.current_node, previous_cast=world.active_characters, noticed=noticed)


def before_beats(desk: Desk, play: PlayState) -> KeeperContext:
    """What the keeper is told of the player's words."""
    return desk.teller(play, scene_here(desk, play)).keeper("after_player_input", [])


async def first_keeper(desk: Desk, play: PlayState) -> Kept:
    """The keeper after the player's words; here the turn index grows. The swift pace asks no one yet."""
    if desk.bundle.swift:
        kept = applied(desk, play, StateUpdate(ops=[]), output=None)
    else:
        kept = await ask_keeper(desk, play, before_beats(desk, play))
    snapshot = kept.play.snapshot.model_copy(update={"turn_index": kept.play.snapshot.turn_index + 1})
    play = kept.play.model_copy(update={"snapshot": snapshot, "turns_in_scene": kept.play.turns_in_scene + 1})
    desk.stage.tell(
        "keeper_applied", phase="after_player_input", update=kept.update.as_json(), snapshot=snapshot.as_json()
    )
    return Kept(play=play, update=kept.update, output=kept.output)


def move_on(desk: Desk, play: PlayState) -> tuple[PlayState, Scene, Transition | None]:
    """Takes the first way on that is open, at most one in a turn. This is code, never a model's choice."""
    here = play.world.current_node
    scene = scene_here(desk, play)
    way = open_transition(desk.bundle.nodes[here], play.world)
    if way is None:
        return play, scene, None
    arrived = enter(desk.bundle.nodes[way.to], play.world, desk.bundle.bounds(play))
    for refused in arrived.refused:
        desk.stage.tell("state_op_refused", op=refused.op.as_json(), reason=refused.reason)
    moved = play.with_world(arrived.state).entering(way.to)
    return moved, scene.model_copy(update={"transitioned": True}), way


async def make_plan(desk: Desk, play: PlayState, scene: Scene) -> tuple[JsonObject, ResponsePlan]:
    """The director's result and its plan; the swift pace needs no plan, its one call does everything."""
    if desk.bundle.swift:
        plan = ResponsePlan(role_actions=[], beats=[])
    else:
        plan = await _directed(desk, play, scene)
    result: JsonObject = {
        "previous_node_id": scene.previous_node_id,
        "current_node_id": play.world.current_node,
        "transitioned": scene.transitioned,
        "response_plan": plan.as_json(),
    }
    desk.stage.tell("director_completed", result=result, snapshot=play.snapshot.as_json())
    return result, plan


async def _directed(desk: Desk, play: PlayState, scene: Scene) -> ResponsePlan:
    teller = desk.teller(play, scene)
    cast = [member.id for member in teller.cast()]
    with during("director"):
        proposal = await propose(
            desk,
            teller.director(),
            call="director",
            read=lambda text: read_response_plan(text, cast=cast, story_characters=desk.bundle.characters.keys()),
            fallback=lambda: fallback_plan(transitioned=scene.transitioned, cast=cast),
        )
    return proposal.value
