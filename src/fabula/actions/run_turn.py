"""Run a turn: the player's words are safe before anything else happens, then the scene loop takes them up.

1. `begin_turn` writes the input durably and takes the session (a second turn in flight is refused).
2. The loop runs as a task of its own; whoever asked may listen, leave, and come back.
3. `carry_out` ends it: committed by the loop, or failed whole with the input kept.
4. After a crash, `resume_turns` takes up what was running, at the node it was in.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from typing import Literal

from fabula.actions.house import House
from fabula.actions.messages import past_of
from fabula.actions.owners import is_dead
from fabula.actions.sessions import play_of, state_at
from fabula.actions.shelves import SESSIONS
from fabula.actions.views import Command, Nothing, View
from fabula.loops.scene import scene_player
from fabula.loops.scene.desk import Desk
from fabula.loops.scene.stage import Stage
from fabula.ports.errors import Conflict, FabulaError, InvalidRequest, NotFound
from fabula.ports.gate import off_loop
from fabula.ports.plays import NewTurn, Play, Turn
from fabula.ports.store import Unit
from fabula.story.values import JsonObject

log = logging.getLogger("fabula.turns")

LONGEST_INPUT = 20_000
LEASE_BEYOND_DEADLINE_S = 10


class RunTurn(Command):
    player_input: str


class TurnAccepted(View):
    type: Literal["turn_stream_accepted"] = "turn_stream_accepted"


class TurnCancelled(View):
    type: Literal["turn_cancelled"] = "turn_cancelled"
    turn_id: str


async def run_turn(
    house: House, session_id: str, command: RunTurn, *, request_id: str, seed: int | None = None
) -> Turn:
    """Plays one turn with the player's words; the answer is a stream of events."""
    words = command.player_input
    if not words.strip():
        raise InvalidRequest("Say or do something: `player_input` is empty.")
    if len(words) > LONGEST_INPUT:
        raise InvalidRequest(f"Say it in at most {LONGEST_INPUT} characters.")
    async with house.store.writing() as unit:
        play = await _ready(unit, session_id)
        turn = await _begin(house, unit, play, play.head_turn_id, words, request_id, seed)
    return _start(house, turn)


async def retry_turn(
    house: House, session_id: str, command: Nothing, *, request_id: str, seed: int | None = None
) -> Turn:
    """Plays the words of the last failed or cancelled turn again."""
    async with house.store.writing() as unit:
        play = await _ready(unit, session_id)
        failed = await unit.plays.last_failed(session_id, play.head_turn_id)
        if failed is None:
            raise NotFound("There is no failed turn here to try again.")
        turn = await _begin(house, unit, play, play.head_turn_id, failed.player_input, request_id, seed)
    return _start(house, turn)


async def regenerate(
    house: House, session_id: str, command: Nothing, *, request_id: str, seed: int | None = None
) -> Turn:
    """Plays the last turn's words once more, as a sibling of that turn; the old one stays as a branch."""
    async with house.store.writing() as unit:
        play = await _ready(unit, session_id)
        old = await unit.plays.turn(play.head_turn_id)
        while old is not None and old.kind == "amend" and old.parent_id is not None:
            old = await unit.plays.turn(old.parent_id)
        if old is None or old.kind != "play" or old.parent_id is None:
            raise Conflict("Nothing has been played yet that could be played again.")
        await unit.plays.move_head(session_id, old.parent_id)
        turn = await _begin(house, unit, play, old.parent_id, old.player_input, request_id, seed)
    return _start(house, turn)


async def cancel_turn(house: House, session_id: str, command: Nothing) -> TurnCancelled:
    """Stops the turn in flight; its words are kept for `session.retry_turn`."""
    async with house.store.reading() as unit:
        play = await play_of(unit, session_id)
    if play.active_turn_id is None:
        raise Conflict("No turn of this session is running.")
    turn_id = play.active_turn_id
    await house.turns.cancel(turn_id)
    error: JsonObject = {
        "code": 50002,
        "message": "The turn was cancelled. Its words are kept; try it again if you like.",
    }
    async with house.store.writing() as unit:
        await unit.plays.fail(turn_id, status="cancelled", error=error)
    _stage(house, play.session_id, turn_id, "").fail(error)
    return TurnCancelled(turn_id=turn_id)


async def warm_up(house: House) -> None:
    """Loads what the first turn needs, so that no player waits for it."""
    await off_loop(scene_player)
    await house.checkpoints.saver()


async def resume_turns(house: House) -> int:
    """Takes up the turns that a process left behind when it died; answers how many."""
    async with house.store.writing() as unit:
        dead = [owner for owner in await unit.plays.owners() if is_dead(owner, seen_by=house.owner)]
        orphans = await unit.plays.orphans(dead=dead)
        for turn in orphans:
            await unit.plays.hold(turn.turn_id, owner=house.owner, lease_until_ms=_lease(house))
    for turn in orphans:
        _start(house, turn, resumed=True)
    return len(orphans)


async def _ready(unit: Unit, session_id: str) -> Play:
    play = await play_of(unit, session_id)
    if play.token_budget is not None:
        used = await unit.calls.tokens_used(session_id)
        if used >= play.token_budget:
            raise Conflict(
                f"This session has used {used} of its {play.token_budget} tokens. Raise token_budget in its config.",
                used=used,
                token_budget=play.token_budget,
            )
    return play


async def _begin(
    house: House, unit: Unit, play: Play, parent_id: str, words: str, request_id: str, seed: int | None
) -> Turn:
    """Writes the turn down. With the same seed a model that heeds it answers alike; otherwise lots are drawn."""
    parent = await unit.plays.turn(parent_id)
    assert parent is not None
    return await unit.plays.begin(
        NewTurn(
            turn_id=house.ids.new("turn"),
            session_id=play.session_id,
            parent_id=parent_id,
            turn_index=parent.turn_index + 1,
            kind="play",
            player_input=words,
            request_id=request_id,
            seed=secrets.randbits(31) if seed is None else seed,
            owner=house.owner,
            lease_until_ms=_lease(house),
        )
    )


def _lease(house: House) -> int:
    """A turn cannot outlive its deadline, so neither need its lease."""
    return house.clock.now_ms() + round((house.settings.turn_deadline_s + LEASE_BEYOND_DEADLINE_S) * 1000)


def _start(house: House, turn: Turn, *, resumed: bool = False) -> Turn:
    stage = _stage(house, turn.session_id, turn.turn_id, turn.request_id)
    stage.start()
    house.turns.start(turn.turn_id, turn.session_id, carry_out(house, turn, stage, resumed=resumed))
    return turn


def _stage(house: House, session_id: str, turn_id: str, request_id: str) -> Stage:
    return Stage(house.bus.open(turn_id), request_id=request_id, session_id=session_id)


async def carry_out(house: House, turn: Turn, stage: Stage, *, resumed: bool) -> None:
    """Runs the loop to its end. This is a door: what nobody expected is logged once, here, and fails the turn."""
    try:
        async with asyncio.timeout(house.settings.turn_deadline_s + LEASE_BEYOND_DEADLINE_S / 2):
            await _play(house, turn, stage, resumed=resumed)
    except TimeoutError:
        await _fail(house, turn, stage, {"code": 50001, "message": "The turn took too long. Try it again."})
    except FabulaError as error:
        await _fail(house, turn, stage, {"code": error.code, "message": error.message})
    except Exception:
        log.exception("turn %s failed", turn.turn_id)
        sentence = "The turn failed inside the server; its log has the details. Your words are kept."
        await _fail(house, turn, stage, {"code": -32603, "message": sentence})
    await house.checkpoints.forget(_thread(turn))


async def _play(house: House, turn: Turn, stage: Stage, *, resumed: bool) -> None:
    play_scene = await off_loop(scene_player)
    desk = await _desk(house, turn, stage, first_played=not resumed)
    saver = await house.checkpoints.saver()
    if not resumed:
        house.checkpoints.expect_new(_thread(turn))
    await play_scene(desk, saver, thread_id=_thread(turn), resumed=resumed)


async def _desk(house: House, turn: Turn, stage: Stage, *, first_played: bool) -> Desk:
    assert turn.parent_id is not None
    async with house.store.reading() as unit:
        before = await state_at(unit, turn.parent_id)
        session = await SESSIONS.get(unit, turn.session_id)
        bundle = await house.bundles.of(unit, session, before.graph)
        past = await past_of(unit, turn.parent_id, bundle.told_history)
    return Desk(
        turn=turn,
        before=before,
        bundle=bundle,
        past=past,
        store=house.store,
        models=house.models,
        clock=house.clock,
        ids=house.ids,
        stage=stage,
        deadline=house.clock.monotonic() + house.settings.turn_deadline_s,
        first_played=first_played,
    )


async def _fail(house: House, turn: Turn, stage: Stage, error: JsonObject) -> None:
    async with house.store.writing() as unit:
        await unit.plays.fail(turn.turn_id, status="failed", error=error)
    stage.fail(error)


def _thread(turn: Turn) -> str:
    return f"{turn.session_id}:{turn.turn_id}"
