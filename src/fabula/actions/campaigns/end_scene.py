"""End the scene of a free play by the player's word; then the world moves on, and the next one begins."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.campaigns.story_loop import LINES_LOOKED_AT, lead_on
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import past_of
from fabula.actions.plays.scenes import SceneLine, open_scene_line
from fabula.actions.views import Nothing, View
from fabula.canon.staging import marked
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict
from fabula.story.change_labels import change_label
from fabula.story.lore import scene_began
from fabula.story.scenes import SceneRecord, ended_scene, open_mark


class SceneEnded(View):
    """The scene that has ended, and the one that began; none where the story is over."""

    optional = frozenset({"next_scene"})
    type: Literal["scene_ended"] = "scene_ended"
    scene_id: str
    title: str
    summary: str
    story_ended: bool
    next_scene: SceneLine | None = None


@allowed("player")
async def end_scene(house: House, actor: Actor, session_id: str, command: Nothing) -> SceneEnded:
    """Ends the scene of a free play; the world moves on, and the next scene begins."""

    async def change(at: AtHead) -> tuple[Amendment, SceneRecord]:
        free = kind_of_play(at.state).free_play(at.state)
        if at.state.ended:
            raise Conflict("The story is over.")
        if at.state.conversation is not None:
            raise Conflict("A conversation is under way here. Leave it first.")
        if free.phase != "open" or at.state.turns_in_scene == 0:
            raise Conflict("The scene has only just begun: play a turn of it first.")
        setup = await house.play_setups.played_by(at.looking, session_id, at.state.graph)
        past = await past_of(at.unit, at.play.head_turn_id, LINES_LOOKED_AT)
        turns = at.state.snapshot.turn_index - open_mark(at.state).turn_index - (0 if free.walked else 1)
        began = scene_began(past, max(0, turns), complete=True) or 0
        over = free.model_copy(update={"phase": "over", "outcome": "asked"})
        state = marked(at.state.model_copy(update={"free": over}), at.turn_id, "scene")
        node = setup.nodes[at.state.world.current_node]
        purpose = setup.purpose(at.state, node)
        record = ended_scene(at.state, state, node, past[began:], "asked", purpose=purpose)
        return Amendment(state=state, scene=record, label=change_label("scene_ended")), record

    _, ended = await amend(house, actor, session_id, change)
    await lead_on(house, session_id)
    state, line = await open_scene_line(house, actor, session_id)
    return SceneEnded(
        scene_id=ended.scene_id,
        title=ended.title,
        summary=ended.summary,
        story_ended=state.ended,
        next_scene=None if state.ended else line,
    )
