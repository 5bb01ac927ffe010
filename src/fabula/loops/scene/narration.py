"""Narrate, the ensemble way: beat follows beat, each knowing what was said before it. Before, guests come and go."""

from __future__ import annotations

from fabula.loops.scene.audience import heard_beat
from fabula.loops.scene.beats import Beat, perform_beat, plain_beat
from fabula.loops.scene.checks import correction_of
from fabula.loops.scene.contexts import Scene
from fabula.loops.scene.player_line import check_of
from fabula.loops.scene.scene_run import SceneRun
from fabula.story.changes import remember, remember_privately
from fabula.story.events import (
    SessionCharacterCreated,
    SessionCharacterEnteredScene,
    SessionCharacterLeftScene,
)
from fabula.story.guests import added, entered, left, shortened, with_room
from fabula.story.plans import CreateAndEnter, ResponsePlan, RoleAction
from fabula.story.plays import GuestOnStage, PlayState, SessionCharacter


async def perform(run: SceneRun, play: PlayState, scene: Scene, plan: ResponsePlan) -> tuple[PlayState, list[Beat]]:
    """The beats of the director's plan; of a turn that is cut short, those that were told, the last one in part."""
    beats: list[Beat] = []
    for index, beat in enumerate(plan.beats):
        if run.cut.asked:
            break
        done = await perform_beat(run, run.teller(play, scene), beat, index)
        if done is None:
            break
        done = heard_beat(run, play, done)
        play, scene = remembered(run, play, done), scene.after(done.entries)
        beats.append(done)
    right = None if run.cut.asked else correction_of(check_of(run), beats)
    if right is not None:
        done = heard_beat(run, play, plain_beat(run, run.teller(play, scene), right, len(beats)))
        play = remembered(run, play, done)
        beats.append(done)
    return play, beats


def remembered(run: SceneRun, play: PlayState, beat: Beat) -> PlayState:
    """The state after a beat: what was said is shared, what was thought stays with who thought it."""
    world = remember(play.world, beat.entries, limit=run.setup.shared_window)
    for entry in beat.entries:
        if entry.kind == "thought":
            world = remember_privately(world, entry, limit=run.setup.private_window)
    return play.with_world(world)


def come_and_go(run: SceneRun, play: PlayState, plan: ResponsePlan) -> PlayState:
    """The state after guests of the plan came and went."""
    for action in plan.role_actions:
        play = _come_or_go(run, play, action)
    return play


def _come_or_go(run: SceneRun, play: PlayState, action: RoleAction) -> PlayState:
    if not isinstance(action, CreateAndEnter):
        gone = action.session_character_id
        play = left(play, gone)
        run.stage.tell(SessionCharacterLeftScene(session_character_id=gone, snapshot=play.snapshot))
        return play
    guest = shortened(_guest(run, play, action))
    play = added(with_room(play, guest.session_character_id), guest)
    shown = GuestOnStage(**dict(guest), in_scene=False)
    run.stage.tell(SessionCharacterCreated(session_character=shown, snapshot=play.snapshot))
    came = guest.session_character_id
    play = entered(play, came)
    run.stage.tell(SessionCharacterEnteredScene(session_character_id=came, snapshot=play.snapshot))
    return play


def _guest(run: SceneRun, play: PlayState, action: CreateAndEnter) -> SessionCharacter:
    known = play.session_characters.get(action.session_character_id)
    now = run.turn.created_at_ms
    return SessionCharacter(
        session_character_id=action.session_character_id,
        display_name=action.display_name,
        personality=action.personality,
        style=action.style,
        system_prompt=action.system_prompt,
        created_at_ms=known.created_at_ms if known is not None else now,
        updated_at_ms=now,
    )
