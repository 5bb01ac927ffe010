"""Play a scene of the past: the present waits, and goes on when the scene is over."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.campaigns.story_loop import LINES_LOOKED_AT, played_names, seed_at, tell_at
from fabula.actions.canon.advance_world import LONGEST_DURATION, Duration, minutes_in
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import past_of
from fabula.actions.plays.scenes import SceneLine, open_scene_line
from fabula.actions.views import Command, View
from fabula.language.words import stems
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict
from fabula.story.change_labels import change_label
from fabula.story.changes import enter
from fabula.story.free_plays import Remembered
from fabula.story.graph import Node
from fabula.understudy.transitions import tell_flashback

USUALLY_AGO: Final = 1440
LONGEST_TEXT: Final = 2000
_NUMBERS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_AGO: Final = re.compile(
    rf"\b(\d{{1,5}}|{'|'.join(_NUMBERS)}) (hour|day|week)s? (?:ago|before|earlier)\b", re.IGNORECASE
)
_UNITS: Final = {"hour": 60, "day": 1440, "week": 10_080}


class BeginFlashback(Command):
    """`text` is what is remembered. A place of the map that it names is where it was; `ago` says how long ago, else the
    text may (`two days ago`), else it was a day."""

    text: str = Field(min_length=1, max_length=LONGEST_TEXT)
    ago: Duration | None = None


class FlashbackBegun(View):
    """The scene of the past. It ends as every scene does; then the present goes on."""

    type: Literal["flashback_begun"] = "flashback_begun"
    scene: SceneLine


@allowed("player")
async def begin_flashback(house: House, actor: Actor, session_id: str, command: BeginFlashback) -> FlashbackBegun:
    """Begins a scene of the past in a free play; the present waits until it ends."""
    text = " ".join(command.text.split())
    ago = _minutes_ago(text) if command.ago is None else minutes_in(command.ago)

    async def change(at: AtHead) -> tuple[Amendment, None]:
        state, free = at.state, kind_of_play(at.state).free_play(at.state)
        if state.ended or free.phase != "open" or free.flashback is not None or state.conversation is not None:
            raise Conflict("Not now: end the scene of the past, or the talk, first.")
        setup = await house.play_setups.played_by(at.looking, session_id, state.graph)
        node = _place_named(text, setup.nodes.values()) or setup.nodes[state.world.current_node]
        left = Remembered(
            minute=state.minute - ago,
            since=state.snapshot.turn_index,
            place=state.world.current_node,
            people=state.world.active_characters,
            aim=free.aim,
            turns=state.turns_in_scene,
        )
        entered = enter(node, state.world, setup.bounds(state)).state
        state = state.with_world(entered).entering(node.id)
        now = free.model_copy(update={"flashback": left, "aim": None, "walked": False})
        state = state.model_copy(update={"free": now})
        told = [entry.text for entry in await past_of(at.unit, at.play.head_turn_id, LINES_LOOKED_AT)]
        people = played_names(setup, state)
        past = tell_flashback(node, people, text, seed=seed_at(at), told=told)
        told_now = tell_at(at, setup, state, past, label=change_label("past_began", node.title))
        return replace(told_now, inputs=[text]), None

    await amend(house, actor, session_id, change)
    return FlashbackBegun(scene=(await open_scene_line(house, actor, session_id))[1])


def _minutes_ago(text: str) -> int:
    found = _AGO.search(text)
    if found is None:
        return USUALLY_AGO
    count = _NUMBERS.get(found[1].lower()) or int(found[1])
    return min(max(count, 1) * _UNITS[found[2].lower()], LONGEST_DURATION)


def _place_named(text: str, nodes: Iterable[Node]) -> Node | None:
    """The place that a text names by all words of its title."""
    said = stems(text)
    return next((node for node in nodes if (named := stems(node.title)) and named <= said), None)
