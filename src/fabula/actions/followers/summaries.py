"""Sum a turn's line up: what was told since the last summary on this line goes on the ladder, kept by the turn.

The ladder belongs to its turn, so going back brings back the ladder of that turn, and a branch that was left is never
in that of another.
"""

from __future__ import annotations

from itertools import groupby

from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.past_summaries import STEPS_UP, story_so_far
from fabula.actions.plays.play_states import known_state
from fabula.actions.repositories import SESSIONS
from fabula.actions.work.work_kind import HeldWork, taken_over
from fabula.loops.turns.turn_state_cache import entry_of
from fabula.ports.plays import SpokenMessage
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.plays import PlayState
from fabula.story.summaries import StorySoFar, Summary, climb, sum_up
from fabula.story.values import JsonObject

LINES_PER_TURN = 12
"""As many lines of each turn, on average, are read at most."""


async def summarise_turn(house: House, held: HeldWork) -> JsonObject | None:
    """Sums up what was told on the line to a turn since the last summary; a turn that is gone has nothing to sum up."""
    turn_id = str(held.work.input["turn_id"])
    ladder = await _ladder_after(house, turn_id)

    async def keep(unit: Unit) -> None:
        if ladder is not None and await unit.plays.turn(turn_id) is not None:
            await unit.plays.keep_summary(turn_id, ladder.as_json())
        if not await unit.work.finish(held.work):
            raise taken_over(held.work)

    await house.store.write(keep)
    return None


async def _ladder_after(house: House, turn_id: str) -> StorySoFar | None:
    async with house.store.reading() as unit:
        turn = await unit.plays.turn(turn_id)
        session = None if turn is None else await SESSIONS.find(unit, turn.session_id)
        if turn is None or session is None or turn.status != "committed":
            return None
        state = await known_state(house, unit, turn_id)
        before = await story_so_far(unit, turn_id) or StorySoFar()
        kind = kind_of_play(state)
        stage = await kind.on_stage(house, unit, session, state)
        titles = await kind.scene_titles(house, unit, state)
        lines = await unit.plays.transcript(turn_id, last=LINES_PER_TURN * STEPS_UP)
    new = [line for line in lines if line.turn_index > before.last_turn]
    named = [(titles.get(_node_of(state, line), stage.scene.title), line) for line in new]
    return await run_in_thread(_climbed, before, named)


def _climbed(ladder: StorySoFar, named: list[tuple[str, SpokenMessage]]) -> StorySoFar:
    for title, group in groupby(named, key=lambda one: one[0]):
        lines = [line for _, line in group]
        first, last = lines[0].turn_index, lines[-1].turn_index
        text = sum_up(entry_of(line) for line in lines)
        if text:
            ladder = climb(ladder, Summary(title=title, first_turn=first, last_turn=last, text=text))
    return ladder


def _node_of(state: PlayState, line: SpokenMessage) -> str:
    """The scene in which a line was told: the last one that was entered by then."""
    entered = [mark.node_id for mark in state.scenes if mark.turn_index <= line.turn_index]
    return entered[-1] if entered else state.world.current_node
