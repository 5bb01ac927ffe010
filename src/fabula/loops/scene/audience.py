"""Who notices what in a turn: each line is told with its audience, and the turn is kept with what became of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabula.loops.scene.beats import Beat
from fabula.loops.scene.scene_run import SceneRun
from fabula.recall.perception import noticed_by, noticed_in_beat, settled_by_end
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry


def heard_at_first(run: SceneRun, entry: MemoryEntry) -> MemoryEntry:
    """What the player says or does, with those who were in the scene by then."""
    there = run.before.world.active_characters
    return entry.model_copy(update={"heard_by": noticed_by(entry, there, run.setup.names_of(there, run.before))})


def heard_beat(run: SceneRun, play: PlayState, beat: Beat) -> Beat:
    """A beat with those who were in the scene when it was told."""
    there = play.world.active_characters
    return replace(beat, entries=noticed_in_beat(beat.entries, there, run.setup.names_of(there, play)))


def settle_audience(play: PlayState, said: Sequence[MemoryEntry]) -> tuple[PlayState, list[MemoryEntry]]:
    """The lines of a turn as they are kept when it is over, and the state in which everyone remembers them so."""
    settled = settled_by_end(said, play.world.active_characters)
    told = [entry for entry in settled if entry.kind != "thought"]
    history = list(play.world.actor_shared_history)
    count = min(len(history), len(told))
    if count == 0 or history[-count:] == told[-count:]:
        return play, settled
    world = play.world.model_copy(update={"actor_shared_history": [*history[:-count], *told[-count:]]})
    return play.with_world(world), settled
