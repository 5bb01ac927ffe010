"""Sum a turn's line up: what was told since the last summary on this line goes on the ladder, kept by the turn.

The ladder belongs to its turn, so going back brings back the ladder of that turn, and a branch that was left is never
in that of another. A part is summed up in a model's words where there is a model; scenes become chapters by choosing
among these sentences. After lines were corrected or struck out, the rungs that had them are summed up anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from fabula.actions.followers.summariser import Summariser
from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.past_summaries import STEPS_UP, story_so_far
from fabula.actions.plays.play_states import known_state
from fabula.actions.plays.shown_lines import last_lines_told
from fabula.actions.repositories import SESSIONS
from fabula.actions.work.work_kind import HeldWork, taken_over
from fabula.loops.turns.turn_state_cache import entry_of
from fabula.ports.plays import SpokenMessage, Turn
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.summaries import SCENE_WORDS, Rung, StorySoFar, Summary, climb, rungs_of, with_text
from fabula.story.values import JsonObject

LINES_PER_TURN = 12
"""As many lines of each turn, on average, are read at most."""
PAGE = 500
MOST_PAGES = 6
"""So much of the beginning of a play is read, when it has to be summed up anew."""


async def summarise_turn(house: House, held: HeldWork) -> JsonObject | None:
    """Sums up what was told on the line to a turn since the last summary, or what was changed of it by hand.

    A turn that is gone has nothing to sum up.
    """
    turn_id = str(held.work.input["turn_id"])
    place = await _place(house, turn_id)
    ladder = None
    if place is not None:
        changed = held.work.input.get("changed_turns")
        ladder = await (_refreshed(house, place, changed) if isinstance(changed, list) else _climbed(house, place))

    async def keep(unit: Unit) -> None:
        if ladder is not None and await unit.plays.turn(turn_id) is not None:
            await unit.plays.keep_summary(turn_id, ladder.as_json())
        if not await unit.work.finish(held.work):
            raise taken_over(held.work)

    await house.store.write(keep, durable=False)
    return None


@dataclass(frozen=True, kw_only=True)
class _Place:
    """The turn that is summed up, with the ladder before it."""

    turn: Turn
    session: SessionSettings
    state: PlayState
    before: StorySoFar
    summariser: Summariser


async def _place(house: House, turn_id: str) -> _Place | None:
    async with house.store.reading() as unit:
        turn = await unit.plays.turn(turn_id)
        session = None if turn is None else await SESSIONS.find(unit, turn.session_id)
        if turn is None or session is None or turn.status != "committed":
            return None
        state = await known_state(house, unit, turn_id)
        return _Place(
            turn=turn,
            session=session,
            state=state,
            before=await story_so_far(unit, turn_id) or StorySoFar(),
            summariser=await Summariser.of(house, unit, session, turn, state),
        )


async def _climbed(house: House, place: _Place) -> StorySoFar:
    """The ladder with what was told since it was made."""
    async with house.store.reading() as unit:
        kind = kind_of_play(place.state)
        stage = await kind.on_stage(house, unit, place.session, place.state)
        titles = await kind.scene_titles(house, unit, place.state)
        lines = await last_lines_told(unit, place.turn.turn_id, LINES_PER_TURN * STEPS_UP)
    ladder = place.before
    new = [line for line in lines if line.turn_index > ladder.last_turn]
    named = [(titles.get(_node_of(place.state, line), stage.scene.title), line) for line in new]
    for title, group in groupby(named, key=lambda one: one[0]):
        told = [line for _, line in group]
        text = await place.summariser.sum_up(map(entry_of, told), SCENE_WORDS, before=ladder.text)
        if text:
            part = Summary(title=title, first_turn=told[0].turn_index, last_turn=told[-1].turn_index, text=text)
            ladder = await run_in_thread(climb, ladder, part)
    return ladder


def _node_of(state: PlayState, line: SpokenMessage) -> str:
    """The scene in which a line was told: the last one that was entered by then."""
    entered = [mark.node_id for mark in state.scenes if mark.turn_index <= line.turn_index]
    return entered[-1] if entered else state.world.current_node


async def _refreshed(house: House, place: _Place, changed: Sequence[object]) -> StorySoFar | None:
    """The ladder with those rungs anew that had lines which read differently now; None where no rung had any."""
    stale = [
        rung
        for rung in rungs_of(place.before)
        if any(isinstance(one, int) and rung.first_turn <= one <= rung.last_turn for one in changed)
    ]
    ladder = place.before
    for rung in stale:
        lines = await _lines_of(house, place.turn.turn_id, rung)
        text = await place.summariser.sum_up(map(entry_of, lines), rung.words)
        ladder = with_text(ladder, rung, text)
    return ladder if stale else None


async def _lines_of(house: House, turn_id: str, rung: Rung) -> list[SpokenMessage]:
    """The lines of some turns, as they read at a turn now; of very many the first."""
    found: list[SpokenMessage] = []
    async with house.store.reading() as unit:
        after = await _last_line_before(unit, turn_id, rung.first_turn)
        for _ in range(MOST_PAGES):
            lines = await unit.plays.lines_after(turn_id, after, limit=PAGE) or []
            found += [line for line in lines if rung.first_turn <= line.turn_index <= rung.last_turn]
            if len(lines) < PAGE or lines[-1].turn_index > rung.last_turn:
                break
            after = lines[-1].message_id
    return found


async def _last_line_before(unit: Unit, turn_id: str, turn_index: int) -> str | None:
    if turn_index <= 0:
        return None
    earlier = await unit.plays.ancestor(turn_id, turn_index - 1)
    last = await unit.plays.transcript(earlier.turn_id, last=1)
    return last[0].message_id if last else None
