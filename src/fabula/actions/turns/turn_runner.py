"""Carry a turn out: the loop of its kind plays it, and listeners are told how it really ended, which the store knows.

A turn is work whose id is the turn's. It ends in the store first, in one of three ways: committed by the loop, failed,
or cancelled. Only then is its last frame sent, so that what a client was told is always true.
"""

from __future__ import annotations

import asyncio
from functools import partial

from fabula.actions.audit_notes import note_verdicts
from fabula.actions.house import House
from fabula.actions.plays.kinds.protocol import TurnStart
from fabula.actions.plays.kinds.rows import KINDS, kind_of_play
from fabula.actions.plays.kinds.turn_models import played_with
from fabula.actions.plays.play_states import known_state
from fabula.actions.plays.sessions import DELETED
from fabula.actions.turns.turn_trace import Outcome, keep_trace
from fabula.actions.work.work_kind import BadEnd, HeldWork, Sentences, WorkKind
from fabula.loops.turns.cut import CutShort
from fabula.loops.turns.stage import Stage, gather_s
from fabula.loops.turns.turn_recorder import TurnRecorder
from fabula.ports.errors import BackendError, Cancelled, Interrupted, LineCrossed
from fabula.ports.plays import Turn
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread, run_on_texts
from fabula.ports.work import NewWork, Work
from fabula.recall.feelings import load_stems
from fabula.story.error_values import ErrorValue, Hint
from fabula.story.events import Completed, Failed
from fabula.story.feed_events import HeadMoved, TurnOver
from fabula.story.values import JsonObject, build_models

DEADLINE_MARGIN_S = 5
"""What writing a turn down may take beyond the time for its models."""
_PLAYED = ("fabula.story.", "fabula.ports.", "fabula.agents.", "fabula.loops.", "fabula.actions.turns.")
"""Where the models stand of which turns are made."""
MOST_ATTEMPTS = 2
"""A turn that two processes died with is not given to a third."""

SENTENCES = Sentences(
    too_long="The turn took too long.",
    broken="The turn failed inside the server; its log has the details. Your words are kept.",
    worn_out=f"The server stopped {MOST_ATTEMPTS} times during this turn. Its words are kept.",
    cancelled="The turn was cancelled. Its words are kept.",
    hint=Hint.RETRY_TURN,
)
INTERRUPTED = "The turn was interrupted and could not be taken up again. Its words are kept."
UNKNOWN = BackendError("The turn failed. Its words are kept.", hint=Hint.RETRY_TURN).value()


def turn_kinds(house: House) -> dict[str, WorkKind]:
    """Turns, which any process takes up at the node they were in."""
    turn = WorkKind(
        run=partial(_resume, house),
        does="plays a turn; one that was left behind goes on at its node",
        deadline_s=house.settings.turn_deadline_s + DEADLINE_MARGIN_S,
        most_attempts=MOST_ATTEMPTS,
        is_loop=True,
        sentences=SENTENCES,
        on_failure=_end_turn,
        last_event=partial(ending_of, house),
        on_bad_end=partial(_tell_bad_end, house),
    )
    return {"turn": turn}


def new_work(house: House, turn_id: str, session_id: str, stand_in: str | None = None) -> NewWork:
    """The work on a turn, to be begun in the transaction that begins the turn and held by this process."""
    return NewWork(
        work_id=turn_id,
        kind="turn",
        subject=session_id,
        input=played_with(stand_in),
        trace_id=turn_id,
        held=house.work.lease(),
    )


async def start(house: House, turn: Turn, work: Work, turn_start: TurnStart | None = None) -> Turn:
    """Starts the work on a turn that was just begun; what it starts from is read when it is not at hand."""
    await house.work.start(work, partial(_play, house, turn, turn_start, resumed=False))
    return turn


async def adopt_old_turns(house: House) -> None:
    """Turns that ran when the database knew no work yet become work that waits to be taken up."""

    async def without_work(unit: Unit) -> list[Turn]:
        return [turn for turn in await unit.plays.running() if await unit.work.get(turn.turn_id) is None]

    async def adopt(unit: Unit) -> None:
        for turn in found:
            await unit.work.begin(NewWork(work_id=turn.turn_id, kind="turn", subject=turn.session_id))

    found = await house.store.read(without_work)
    if found:
        await house.store.write(adopt)


async def warm_up(house: House) -> None:
    """Loads what the first turn needs, and what follows it, so that no player waits for it.

    What follows runs in threads, but others wait for a thread that imports modules or reads weights.
    """
    for kind in KINDS:
        await run_in_thread(kind.load)
    await run_in_thread(build_models, *_PLAYED)
    await house.models.load()
    await run_in_thread(load_stems)
    if house.embedder is not None:
        await house.embedder.load()
    await house.checkpoints.saver()


async def ending_of(house: House, turn_id: str) -> Completed | Failed:
    """The last frame of a turn that has ended, from the store."""
    async with house.store.reading() as unit:
        turn = await unit.plays.turn(turn_id)
        result = await unit.plays.result(turn_id)
    if turn is None:
        return Failed(error=DELETED)
    if turn.status == "committed":
        return Completed(result=result or {})
    return Failed(error=turn.error or UNKNOWN)


async def _resume(house: House, held: HeldWork) -> JsonObject | None:
    """Goes on with a turn that a process left behind."""
    turn = await house.store.read(lambda unit: unit.plays.turn(held.work.work_id))
    if turn is None or turn.status != "running":
        return {}
    await _play(house, turn, None, held, resumed=True)
    return None


async def _play(house: House, turn: Turn, turn_start: TurnStart | None, held: HeldWork, *, resumed: bool) -> None:
    """Runs the loop to its end. A turn that it does not end is failed by the runner, its words kept."""
    recorder = TurnRecorder(house.clock.monotonic)
    stage = Stage(held.sender, gather_s=gather_s(house.models.calls_under_way), recorder=recorder)
    stage.start()
    outcome: Outcome = "stopped"
    try:
        await _play_on(house, turn, turn_start, stage, held, resumed=resumed)
        if not stage.ended:
            raise Interrupted(INTERRUPTED, hint=Hint.RETRY_TURN)
        outcome = "done"
        if stage.follow is not None:
            house.work.announce(stage.follow)
        house.feeds.publish(turn.session_id, TurnOver(turn_id=turn.turn_id, status="cut" if stage.cut else "committed"))
        house.feeds.publish(turn.session_id, HeadMoved(turn_id=turn.turn_id))
    except CutShort:
        # Nothing had been told that could be kept: the turn ends as if it had simply been cancelled.
        stage.pass_on()
        raise Cancelled(SENTENCES.cancelled, hint=SENTENCES.hint) from None
    except asyncio.CancelledError:
        stage.pass_on()
        raise
    except BaseException:
        outcome = "failed"
        stage.pass_on()
        raise
    finally:
        keep_trace(house, turn, recorder, outcome)
        if recorder.rows.get("verdicts"):
            await note_verdicts(house, turn.session_id, recorder.rows["verdicts"])


async def _play_on(
    house: House, turn: Turn, turn_start: TurnStart | None, stage: Stage, held: HeldWork, *, resumed: bool
) -> None:
    turn_start = turn_start or await _read_start(house, turn)
    try:
        await run_on_texts(turn_start.refuse_crossed, turn.player_input, turn.wish)
    except LineCrossed as error:
        rule = f"{error.data['check']}: {error.data['line']}"
        stage.recorder.judge(rule=rule, result="refuse", sentence=error.message)
        raise
    saver = await house.checkpoints.saver()
    if not resumed:
        house.checkpoints.expect_new(held.work.work_id)
    assert turn.parent_id is not None
    async with house.turn_states.room_for(turn.parent_id, turn_start.before):
        await turn_start.play(house, turn, stage, saver, work=held.work, cut=held.cut, resumed=resumed)


async def _read_start(house: House, turn: Turn) -> TurnStart:
    parent_id = turn.parent_id
    assert parent_id is not None

    async def read(unit: Unit) -> TurnStart:
        before = await known_state(house, unit, parent_id)
        return await kind_of_play(before).read_start(house, unit, turn, before)

    return await house.compiled_stories.reading(house.store, read)


def _tell_bad_end(house: House, work: Work, how: BadEnd) -> None:
    """Those who have the session open learn that its turn came to nothing."""
    house.feeds.publish(work.subject, TurnOver(turn_id=work.work_id, status=how))


async def _end_turn(unit: Unit, turn_id: str, how: BadEnd, error: ErrorValue) -> None:
    await unit.plays.fail(turn_id, status=how, error=error)
