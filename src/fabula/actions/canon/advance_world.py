"""Let the world move by hand: a play's own, or a world with no play; or only show what would come of it.

For a play it is a turn, and what comes to pass is proposed to its layer of canon. For a world it moves the clocks from
which plays begin, its time, and its own canon. Without `dry_run`, the outcome is the one that a dry run shows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.canon.changes import judge_changes, write_verdicts
from fabula.actions.canon.clocks import begun, setup_of
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import WORLDS
from fabula.actions.views import Command, View
from fabula.canon.staging import AGENDAS, agenda_proposals, conflict_proposals, marked, staged_change
from fabula.loops.scene.play_setup import PlaySetup
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.store import Unit
from fabula.rules.agendas import Advanced, advance, odds_of_firing, world_draws
from fabula.rules.off_screen import follow_threads, move_off_screen
from fabula.story.agendas import AgendaClock, AgendaStatus
from fabula.story.calendars import LATEST, MINUTES_PER_HOUR
from fabula.story.canon import Change, Decision
from fabula.story.change_labels import change_label
from fabula.story.conflicts import ConflictNow
from fabula.story.events import OffScreenEvent
from fabula.story.passing_time import skip_time
from fabula.story.plays import PlayState
from fabula.story.state import WorldState
from fabula.story.worlds import World, WorldTime

LONGEST_DURATION = 5 * 366 * 24 * MINUTES_PER_HOUR
DAY = 24 * MINUTES_PER_HOUR
Duration = Annotated[int, Field(ge=1, le=LONGEST_DURATION)] | Annotated[str, Field(max_length=40)]


class AdvanceWorld(Command):
    """`duration` is in minutes of story time, or in words: `90 minutes`, `8 hours`, `3 days`, `2 weeks`. With `dry_run`
    nothing is written. A session in the envelope stands for its play; then `world_id` is left out."""

    world_id: str = ""
    duration: Duration
    dry_run: bool = False


class ClockMoveView(View):
    """What became of a clock. `odds` is how likely it was to come to its end within this time."""

    type: Literal["clock_move"] = "clock_move"
    clock_id: str
    name: str
    segments: int
    before: int
    after: int
    chances: int
    odds: float
    status: AgendaStatus


class WorldAdvancedView(View):
    """The world so many `minutes` later; `minute` is when it is now. `events` are what came to pass, in their order,
    and `change_ids` what was proposed to canon because of it."""

    type: Literal["world_advanced"] = "world_advanced"
    dry_run: bool
    minutes: int
    minute: int
    moves: list[ClockMoveView]
    events: list[OffScreenEvent]
    change_ids: list[str]


@allowed("author")
async def advance_world(house: House, actor: Actor, session_id: str | None, command: AdvanceWorld) -> WorldAdvancedView:
    """Lets time pass in a world, or in a play, and its agendas move; a dry run shows odds and outcome."""
    if session_id is None:
        return await _advance_world(house, command)
    if command.dry_run:
        async with house.store.reading() as unit:
            play, state = await head_state(unit, actor, session_id)
            setup = await setup_of(house, unit, session_id, state)
        moved = _moved(setup, state, command, tree_id=play.tree_id)
        return moved.view(dry_run=True)

    async def change(at: AtHead) -> tuple[Amendment, WorldAdvancedView]:
        setup = await setup_of(house, at.looking, session_id, at.state)
        moved = _moved(setup, at.state, command, tree_id=at.play.tree_id)
        off_screen = moved.before.off_screen
        staged = staged_events(
            house,
            setup,
            moved.advanced,
            moved.clocks,
            stood={} if off_screen is None else off_screen.conflicts,
            after=moved.after,
            session_id=session_id,
            turn_id=at.turn_id,
        )
        state = marked(moved.after, at.turn_id, "world") if staged else moved.after
        return Amendment(state=state, staged=staged, label=change_label("time_passed")), moved.view(changes=staged)

    return (await amend(house, actor, session_id, change))[1]


@dataclass(frozen=True, kw_only=True)
class _Moved:
    """A play after time passed by hand."""

    before: PlayState
    after: PlayState
    clocks: list[AgendaClock]
    advanced: Advanced
    minutes: int

    def view(self, *, dry_run: bool = False, changes: Sequence[Change] = ()) -> WorldAdvancedView:
        return _view(
            self.advanced,
            self.clocks,
            self.minutes,
            minute=self.after.minute,
            state=self.before.world,
            dry_run=dry_run,
            changes=changes,
        )


def _moved(setup: PlaySetup, state: PlayState, command: AdvanceWorld, *, tree_id: str) -> _Moved:
    day = DAY if setup.world is None else setup.world.calendar.minutes_per_day
    minutes = minutes_in(command.duration, day=day)
    off_screen = begun(state, setup)
    state = state.model_copy(update={"off_screen": off_screen})
    later = skip_time(setup.world, state, setup.nodes.get(state.world.current_node), minutes)
    after, advanced = move_off_screen(later, setup.clocks, setup.conflicts, tree_id=tree_id)
    quests = () if setup.world is None else setup.world.quests
    after, _ = follow_threads(after, setup.threads, quests=quests, fired=advanced.fired)
    passed = after.minute - off_screen.minute
    return _Moved(
        before=state,
        after=after,
        clocks=off_screen.all_clocks(setup.clocks),
        advanced=advanced,
        minutes=passed,
    )


def staged_events(
    house: House,
    setup: PlaySetup,
    advanced: Advanced,
    clocks: Sequence[AgendaClock],
    *,
    stood: Mapping[str, ConflictNow],
    after: PlayState,
    session_id: str,
    turn_id: str,
) -> list[Change]:
    """What is proposed in a play because clocks of it have fired, or conflicts were resolved. `clocks` are those that
    moved, as they were; `stood` is how its conflicts stood, `after` the play by now."""
    if setup.world_id is None:
        return []
    return [
        staged_change(
            one,
            change_id=house.ids.new("change"),
            world_id=setup.world_id,
            session_id=session_id,
            turn_id=turn_id,
            proposer=AGENDAS,
        )
        for one in [*agenda_proposals(advanced.fired, clocks), *conflict_proposals(setup.conflicts, stood, after)]
    ]


async def _advance_world(house: House, command: AdvanceWorld) -> WorldAdvancedView:
    minutes = minutes_in(command.duration, day=DAY)
    async with house.store.writing() as unit:
        world = await WORLDS.get(unit, command.world_id)
        if world.minute + minutes > LATEST:
            raise InvalidRequest("So much time cannot pass in a world.")
        draws = world_draws(world.world_id, 0 if world.time is None else world.time.cursor)
        advanced = advance(world.clocks, minutes, draws, now=world.minute)
        changes: list[Change] = []
        if not command.dry_run:
            time = WorldTime(minute=world.minute + minutes, cursor=draws.cursor)
            moved = world.model_copy(update={"clocks": advanced.clocks, "time": time})
            await WORLDS.put(unit, world.world_id, moved)
            changes = await _commit(house, unit, world, advanced)
    return _view(
        advanced, world.clocks, minutes, minute=world.minute + minutes, dry_run=command.dry_run, changes=changes
    )


async def _commit(house: House, unit: Unit, world: World, advanced: Advanced) -> list[Change]:
    """Proposes what came to pass to the canon of the world, and has its policy judge it."""
    base = await unit.canon.version(world.world_id)
    changes = [
        Change(
            change_id=house.ids.new("change"),
            world_id=world.world_id,
            content=one.content,
            evidence=list(one.evidence),
            confidence=one.confidence,
            authority="source",
            proposer=AGENDAS,
            base_version=base,
        )
        for one in agenda_proposals(advanced.fired, world.clocks)
    ]
    for change in changes:
        await unit.canon.propose(change)
    decision = Decision(by="canon keeper", at_ms=house.clock.now_ms(), reason="by the world's policy")
    await write_verdicts(unit, await judge_changes(unit, changes, world.policy), decision)
    return changes


def _view(
    advanced: Advanced,
    clocks: Sequence[AgendaClock],
    minutes: int,
    *,
    minute: int,
    state: WorldState | None = None,
    dry_run: bool = False,
    changes: Sequence[Change] = (),
) -> WorldAdvancedView:
    before = {clock.clock_id: clock for clock in clocks}
    after = {clock.clock_id: clock for clock in advanced.clocks}
    return WorldAdvancedView(
        dry_run=dry_run,
        minutes=minutes,
        minute=minute,
        moves=[
            ClockMoveView(
                clock_id=move.clock_id,
                name=after[move.clock_id].name,
                segments=after[move.clock_id].segments,
                before=move.before,
                after=move.after,
                chances=move.chances,
                odds=odds_of_firing(before[move.clock_id], minutes, state),
                status=after[move.clock_id].status,
            )
            for move in advanced.moves
        ],
        events=[OffScreenEvent.of(one) for one in advanced.fired],
        change_ids=[change.change_id for change in changes],
    )


_WORDS = re.compile(r"(\d{1,7}) ?(minutes?|min|m|hours?|h|days?|d|weeks?|w)", re.IGNORECASE)


def minutes_in(duration: int | str, *, day: int = DAY) -> int:
    """A duration in minutes; `day` is how long a day of the world is."""
    if isinstance(duration, int):
        return duration
    found = _WORDS.fullmatch(duration.strip())
    if found is None:
        raise InvalidRequest(f"'{duration[:40]}' is no duration. Write `90 minutes`, `8 hours`, `3 days` or `2 weeks`.")
    unit = {"m": 1, "h": MINUTES_PER_HOUR, "d": day, "w": 7 * day}[found[2][0].lower()]
    minutes = int(found[1]) * unit
    if not 1 <= minutes <= LONGEST_DURATION:
        raise InvalidRequest(f"A world moves by 1 to {LONGEST_DURATION} minutes at once.")
    return minutes
