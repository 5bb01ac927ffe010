"""The lore of a scene that begins: chosen from what was prepared for its place, and kept with its mark."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from fabula.loops.scene.contexts import Scene
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.scene.scene_run import SceneRun
from fabula.rules.scene_lore import SceneStart, Truth, prepare_place, settle_scene
from fabula.story.plays import PlayState
from fabula.story.scene_lore import PlaceLore

MOST_PLACES = 12
"""So many places that a scene leads to have their lore prepared."""


def places_ahead(setup: PlaySetup, node_id: str) -> list[str]:
    """Where the next scene may be: the places that a scene leads to."""
    node = next((one for one in setup.graph.nodes if one.id == node_id), None)
    ways = [] if node is None else node.transitions
    return list(dict.fromkeys(way.to for way in ways))[:MOST_PLACES]


def prepare_places(setup: PlaySetup, places: Collection[str], truths: Iterable[Truth] = ()) -> dict[str, PlaceLore]:
    """What may be said at some places of the story as it is written."""
    known = list(truths)
    return {one.id: prepare_place(one, setup.written, known) for one in setup.graph.nodes if one.id in places}


def begin_scene(setup: PlaySetup, play: PlayState, prepared: PlaceLore | None) -> PlayState:
    """The play, whose last scene has the lore that fits where it stands."""
    if prepared is None:
        return play
    start = SceneStart(
        play=play,
        lore=setup.lore_by_id,
        names=setup.names_of(play.world.active_characters, play),
        conflicts=setup.conflicts,
        quests=() if setup.world is None else setup.world.quests,
    )
    return play.with_scene_lore(settle_scene(prepared, start))


def with_scene_lore(run: SceneRun, play: PlayState, scene: Scene) -> PlayState:
    """The play of a turn, after it may have begun a scene. Endings have none: nobody goes on from there."""
    node = run.setup.nodes[play.world.current_node]
    if not scene.transitioned or not node.transitions:
        return play
    return begin_scene(run.setup, play, run.places.get(node.id))
