"""The scenes of a play: the one that is played, and those that have ended on its line."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import SESSIONS
from fabula.actions.views import UNKNOWN_CURSOR, Command, View, cursor_after, place_of
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.scenes import EndedScene
from fabula.ports.store import Unit
from fabula.rules.plot import Arc, arc_of
from fabula.story.free_plays import FreeWorld
from fabula.story.off_screen import OffScreen
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.plot_threads import ThreadNow, standing
from fabula.story.scenes import SceneOutcome, SceneStatus, began_minute, open_mark, scene_id_of
from fabula.story.values import Sparse, Value

CURSOR = "scene"
USUAL_PART = 50
USUAL_PRIORITY = 3


class ListScenes(Command):
    """A list may be read in parts: `limit` scenes, then on from `cursor`, the `next_cursor` of the part before."""

    limit: int = Field(default=USUAL_PART, ge=1, le=200)
    cursor: str | None = Field(default=None, max_length=200)


class SceneLine(Sparse):
    """A scene. Minutes are those of the story. What it came to is there when it has ended: `finalizing` until canon has
    what happened in it. `turn_id` is the turn that ended it. `purpose` is for authors, and for everybody in
    free play."""

    optional = frozenset({"purpose", "ended_turn", "ended_minute", "outcome", "summary", "turn_id", "flashback"})
    scene_id: str
    status: SceneStatus
    title: str
    purpose: str | None = None
    place: str
    participants: list[str]
    began_turn: int
    began_minute: int
    ended_turn: int | None = None
    ended_minute: int | None = None
    outcome: SceneOutcome | None = None
    summary: str | None = None
    turn_id: str | None = None
    flashback: bool = False


class Campaign(Value):
    """How far a free play has come: how many things were found out, how many are left, and the arc that follows from
    these and from its plot threads and agendas."""

    arc: Arc
    found: int
    to_find: int


class ScenesListed(View):
    """The newest first; the one that is being played stands before those that have ended. `campaign` is there in free
    play."""

    may_be_large = True
    optional = frozenset({"next_cursor", "campaign"})
    type: Literal["scenes_listed"] = "scenes_listed"
    scenes: list[SceneLine]
    campaign: Campaign | None = None
    next_cursor: str | None = None


@allowed("player")
async def list_scenes(house: House, actor: Actor, session_id: str, command: ListScenes) -> ScenesListed:
    """Lists the scenes on the line of a session, the newest first."""
    above = _depth_in(command.cursor)
    async with house.store.reading() as unit:
        play, state = await head_state(unit, actor, session_id)
        found = await unit.scenes.at(play.head_turn_id, above=above, limit=command.limit + 1)
        lines = [await _ended_line(unit, one) for one in found[: command.limit]]
        if above is None and not state.ended and kind_of_play(state).has_scenes:
            lines.insert(0, await _open_line(house, unit, await SESSIONS.get(unit, session_id), state))
        campaign = None if state.free is None else await _campaign(house, unit, session_id, state)
    more = len(found) > command.limit
    return ScenesListed(
        scenes=lines
        if actor.sees_plans or state.free is not None
        else [one.model_copy(update={"purpose": None}) for one in lines],
        campaign=campaign,
        next_cursor=cursor_after(CURSOR, str(found[command.limit - 1].depth)) if more else None,
    )


async def _campaign(house: House, unit: Unit, session_id: str, state: PlayState) -> Campaign:
    setup = await house.play_setups.played_by(unit, session_id, state.graph)
    world, off_screen = setup.free or FreeWorld(), state.off_screen or OffScreen()
    left = world.open_ones(state.world)
    # What can be found out is owed as a thread of middling priority is.
    owed = [
        ThreadNow(status="open" if one in left else "resolved", priority=USUAL_PRIORITY) for one in world.discoveries
    ]
    threads = [standing(one, off_screen.threads) for one in off_screen.all_threads(setup.threads)]
    arc = arc_of([*threads, *owed], off_screen.all_clocks(setup.clocks), state.minute)
    return Campaign(arc=arc, found=len(world.discoveries) - len(left), to_find=len(left))


def _depth_in(cursor: str | None) -> int | None:
    place = place_of(CURSOR, cursor)
    if place is not None and not (place.isascii() and place.isdigit() and len(place) <= 12):
        raise InvalidRequest(UNKNOWN_CURSOR)
    return None if place is None else int(place)


async def _ended_line(unit: Unit, scene: EndedScene) -> SceneLine:
    record = scene.record
    is_open = record.canonizes and await unit.canon_layers.commit_of(scene.turn_id) is None
    shown = record.model_dump(exclude={"canonizes"})
    return SceneLine(**shown, status="finalizing" if is_open else "completed", turn_id=scene.turn_id)


async def open_scene_line(house: House, actor: Actor, session_id: str) -> tuple[PlayState, SceneLine]:
    """The state at the head of a session, and the scene that is played there."""
    async with house.store.reading() as unit:
        _, state = await head_state(unit, actor, session_id)
        line = await _open_line(house, unit, await SESSIONS.get(unit, session_id), state)
    return state, line if actor.sees_plans or state.free is not None else line.model_copy(update={"purpose": None})


async def _open_line(house: House, unit: Unit, session: SessionSettings, state: PlayState) -> SceneLine:
    mark = open_mark(state)
    setup = await house.play_setups.of(unit, session, state.graph)
    node = setup.nodes[state.world.current_node]
    return SceneLine(
        scene_id=scene_id_of(mark),
        status="open",
        title=node.title,
        purpose=setup.purpose(state, node),
        place=mark.node_id,
        participants=state.world.active_characters,
        began_turn=mark.turn_index,
        began_minute=began_minute(state),
        flashback=state.free is not None and state.free.flashback is not None,
    )
