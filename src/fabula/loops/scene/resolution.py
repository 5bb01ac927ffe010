"""Resolve: the player's words are recorded, the keeper looks at them, the story moves on if it may, a plan is made."""

from __future__ import annotations

from fabula.agents.replies.director import fallback_plan, read_response_plan
from fabula.loops.guardrails import note_objections
from fabula.loops.scene.audience import heard_at_first
from fabula.loops.scene.checks import check_entry
from fabula.loops.scene.contexts import Scene
from fabula.loops.scene.judgement import settle
from fabula.loops.scene.keeper import Kept, applied, ask_keeper, heard_in, note_shape
from fabula.loops.scene.player_line import question_of, understand, understood
from fabula.loops.scene.questions import propose
from fabula.loops.scene.scene_run import SceneRun, during
from fabula.ports.threads import run_on_texts
from fabula.story.changes import enter, remember
from fabula.story.contexts import KeeperContext
from fabula.story.events import (
    DirectorCompleted,
    KeeperApplied,
    PlayerInputRecorded,
    StateOpRefused,
    TurnStarted,
)
from fabula.story.gate import is_unsure
from fabula.story.graph import Transition, open_transition
from fabula.story.passing_time import pass_time
from fabula.story.plans import ActorBeat, CreateAndEnter, DirectorResult, ResponsePlan
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry, StateUpdate

PLAYER = "player"


def record_input(run: SceneRun) -> PlayState:
    """The state after the player spoke; everyone in the scene noticed."""
    before, stage, words = run.before, run.stage, run.turn.player_input
    stage.tell(TurnStarted(next_turn_index=before.snapshot.turn_index + 1, player_input=words))
    entry = player_entry(run)
    play = before.with_world(remember(before.world, [entry], limit=run.setup.shared_window))
    stage.tell(PlayerInputRecorded(entry=entry, snapshot=play.snapshot))
    return play


def player_entry(run: SceneRun) -> MemoryEntry:
    """The player's words as those in the scene notice them: found out once a turn."""
    if run.handover.entry is None:
        entry = MemoryEntry(
            speaker_id=PLAYER,
            speaker_name=run.before.player_name,
            kind="player_input",
            text=run.turn.player_input,
        )
        run.handover.entry = heard_at_first(run, entry)
    return run.handover.entry


def scene_here(run: SceneRun, play: PlayState) -> Scene:
    """The scene as the turn finds it."""
    world = play.world
    read, check = understood(run, play), run.handover.check
    noticed = [player_entry(run), *([] if check is None else [check_entry(run, check)])]
    return Scene(
        previous_node_id=world.current_node,
        previous_cast=world.active_characters,
        noticed=noticed,
        understood=read,
        resolutions=[] if check is None else [check.resolved.resolution],
        verdicts=run.handover.verdicts,
    )


def before_beats(run: SceneRun, play: PlayState) -> KeeperContext:
    """What the keeper is told of the player's words."""
    return run.teller(play, scene_here(run, play)).keeper("after_player_input", [])


async def first_keeper(run: SceneRun, play: PlayState) -> Kept:
    """The keeper after the player's words; here the turn index grows. The swift pace asks no one yet: rules decide."""
    read = await understand(run, play)
    if run.setup.swift:
        if run.setup.is_weak("keeper") and is_unsure(read):
            with during("keeper_after_player_input"):
                read = run.handover.understood = await settle(run, play, read)
        kept = await applied(
            run, play, StateUpdate(ops=[]), output=None, read=read, heard=heard_in(run, []), first=True
        )
    else:
        kept = await ask_keeper(
            run,
            play,
            "after_player_input",
            lambda: before_beats(run, play),
            read=read,
            heard=heard_in(run, []),
        )
    snapshot = kept.play.snapshot.model_copy(update={"turn_index": kept.play.snapshot.turn_index + 1})
    play = kept.play.model_copy(
        update={
            "snapshot": snapshot,
            "turns_in_scene": kept.play.turns_in_scene + 1,
            "question": question_of(run, understood(run, play)),
        }
    )
    run.stage.tell(KeeperApplied(phase="after_player_input", update=kept.update, snapshot=snapshot))
    return Kept(play=play, update=kept.update, output=kept.output)


def move_on(run: SceneRun, play: PlayState) -> tuple[PlayState, Scene, Transition | None]:
    """Takes the first way on that is open, at most one in a turn. This is code, never a model's choice."""
    here = play.world.current_node
    scene = scene_here(run, play)
    way = open_transition(run.setup.nodes[here], play.world)
    if way is None:
        return play, scene, None
    arrived = enter(run.setup.nodes[way.to], play.world, run.setup.bounds(play))
    for refused in arrived.refused:
        run.stage.tell(StateOpRefused(op=refused.op, reason=refused.reason))
        run.stage.recorder.refuse(refused.op, refused.reason, by="story")
    moved = play.with_world(arrived.state).entering(way.to)
    return moved, scene.model_copy(update={"transitioned": True}), way


def let_time_pass(run: SceneRun, play: PlayState, scene: Scene) -> PlayState:
    """The play after the time that this turn takes, where the story has a calendar; whom that brings is there now."""
    if run.setup.world is None:
        return play
    node = run.setup.nodes[play.world.current_node]
    later = pass_time(run.setup.world, play, run.turn.player_input, node, moved=scene.transitioned)
    return later.arrived() if scene.transitioned else later


async def make_plan(run: SceneRun, play: PlayState, scene: Scene) -> DirectorResult:
    """The director's result with its plan; the swift pace needs no plan, its one call does everything."""
    if run.setup.swift:
        plan = ResponsePlan(role_actions=[], beats=[])
    else:
        plan = await _directed(run, play, scene)
    result = DirectorResult(
        previous_node_id=scene.previous_node_id,
        current_node_id=play.world.current_node,
        transitioned=scene.transitioned,
        response_plan=plan,
    )
    run.stage.tell(DirectorCompleted(result=result, snapshot=play.snapshot))
    return result


async def _directed(run: SceneRun, play: PlayState, scene: Scene) -> ResponsePlan:
    teller = run.teller(play, scene)
    cast = teller.here()
    if run.setup.is_weak("director"):
        return fallback_plan(transitioned=scene.transitioned, cast=cast)
    with during("director"):
        proposal = await propose(
            run,
            "director",
            teller.director,
            read=lambda text: read_response_plan(text, cast=cast, story_characters=run.setup.characters.keys()),
            fallback=lambda: fallback_plan(transitioned=scene.transitioned, cast=cast),
        )
    note_shape(run, "director", proposal.reply is not None)
    return await _kept_to_limits(run, proposal.value)


async def _kept_to_limits(run: SceneRun, plan: ResponsePlan) -> ResponsePlan:
    """The plan without guests who are described by what may not be told at this table."""
    rails, out = run.setup.guardrails(run.before, "director"), set[str]()
    for action in plan.role_actions:
        if not isinstance(action, CreateAndEnter):
            continue
        crossed = await run_on_texts(rails.objection_to, *_guest_words(action))
        if crossed is not None:
            note_objections(run.stage.recorder, "director", [crossed])
            out.add(action.session_character_id)
    if not out:
        return plan
    actions = [one for one in plan.role_actions if one.session_character_id not in out]
    beats = [one for one in plan.beats if not isinstance(one, ActorBeat) or one.speaker_id not in out]
    return plan.model_copy(update={"role_actions": actions, "beats": beats})


def _guest_words(guest: CreateAndEnter) -> tuple[str, ...]:
    return guest.display_name, guest.personality, guest.style, guest.system_prompt
