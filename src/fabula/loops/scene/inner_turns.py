"""The inner life of a turn on its way through the loop: the flashback is told, and what the play keeps is kept."""

from __future__ import annotations

from fabula.language.guarded_stream import GuardedStream
from fabula.loops.scene.contexts import Scene
from fabula.loops.scene.scene_run import SceneRun
from fabula.recall.perception import PLAYER_OWNER
from fabula.story.events import Flashback
from fabula.story.plays import PlayState
from fabula.story.seeds import derived_seed
from fabula.understudy.minds import flashback_text


def flashback_of(run: SceneRun) -> Flashback | None:
    """The flashback of a turn as it is told; also in a turn that is resumed after it was told."""
    came = None if run.inner is None else run.inner.flashback
    if came is None:
        return None
    is_player = came.owner == PLAYER_OWNER
    name = run.before.player_name if is_player else run.inner_name(came.owner)
    play = run.turn.tree_id if run.before.dice_seed is None else str(run.before.dice_seed)
    seed = derived_seed(play, f"flashback:{run.turn.turn_index}")

    def worded(told: str) -> str:
        return flashback_text(name, told=told, cue=came.cue, emotion=came.emotion, is_player=is_player, seed=seed)

    text, told = worded(came.told), _guarded(run, worded(came.told))
    # What may not be told yet stays out of it whole: half a sentence would say that there is more.
    text = text if told == text else worded("")
    return Flashback(character_id=came.owner, character_name=name, text=text, emotion=came.emotion)


def _guarded(run: SceneRun, text: str) -> str:
    world = run.before.world
    scene = Scene(previous_node_id=world.current_node, previous_cast=world.active_characters)
    watch = GuardedStream(run.teller(run.before, scene).guard())
    return watch.take(text) + watch.close()


def tell_flashback(run: SceneRun) -> None:
    """Tells what came back to somebody at the beginning of the turn."""
    told = flashback_of(run)
    if told is not None:
        run.stage.tell(told)


def keep_inner_life(run: SceneRun, play: PlayState) -> PlayState:
    """The play with the inner life of its cast after the turn."""
    return play if run.inner is None else play.model_copy(update={"inner": run.inner.after})
