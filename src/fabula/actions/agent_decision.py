"""Say something to a character and wait for what comes of it; saying it twice under one id is saying it once."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.actions.house import House
from fabula.actions.run_turn import RunTurn, run_turn
from fabula.actions.sessions import play_of, state_at
from fabula.actions.views import Command, View
from fabula.ports.errors import BackendError, Conflict, FabulaError, StreamError
from fabula.ports.plays import Turn
from fabula.story.values import JsonObject

_CLASSES: dict[int, type[FabulaError]] = {40909: Conflict, 50002: StreamError}


class SayToAgent(Command):
    """`id` is the client's own name for the message."""

    id: str = Field(min_length=1, max_length=128)
    input: str


class AgentDecided(View):
    """What came of a message: the outcome as in `agent_outcome`, and where the story now stands."""

    optional = frozenset({"bridge_text", "guidance"})
    type: Literal["agent_decided"] = "agent_decided"
    id: str
    turn_id: str
    turn_index: int
    outcome: str
    reply: str
    bridge_text: str | None = None
    guidance: str | None = None
    reason: str
    ink: JsonObject


async def say_to_agent(house: House, session_id: str, command: SayToAgent) -> AgentDecided:
    """Plays a message to a character; the same id gets the same answer, and never speaks twice."""
    request_id = f"decision:{command.id}"
    turn = await _known(house, session_id, request_id)
    if turn is None:
        await _somebody_listens(house, session_id)
        turn = await _begun(house, session_id, command.input, request_id)
    await _end_of(house, turn)
    return await _decided(house, turn.turn_id, command.id)


async def _begun(house: House, session_id: str, words: str, request_id: str) -> Turn:
    """Begins the turn; where the same message was a moment faster, its turn is the one."""
    try:
        return await run_turn(house, session_id, RunTurn(player_input=words), request_id=request_id)
    except Conflict:
        turn = await _known(house, session_id, request_id)
        if turn is None:
            raise
        return turn


async def _known(house: House, session_id: str, request_id: str) -> Turn | None:
    """The turn of this id, unless it failed: then the message may be sent again."""
    async with house.store.reading() as unit:
        await play_of(unit, session_id)
        turn = await unit.plays.by_request(session_id, request_id)
    return turn if turn is not None and turn.status in ("running", "committed") else None


async def _somebody_listens(house: House, session_id: str) -> None:
    async with house.store.reading() as unit:
        play = await play_of(unit, session_id)
        state = await state_at(unit, play.head_turn_id)
    if state.ink is None or state.ink.waiting.kind not in ("agent", "continue"):
        raise Conflict("Nobody is being talked to now. Look at the session's `ink.input`.")


async def _end_of(house: House, turn: Turn) -> None:
    """Waits for the end of a turn, wherever it runs."""
    frames = house.bus.listen(turn.stream)
    if frames is not None:
        async for _ in frames:
            pass
    while turn.status == "running":
        async with house.store.reading() as unit:
            found = await unit.plays.turn(turn.turn_id)
        if found is None or found.status != "running":
            return
        await house.clock.sleep(0.05)


async def _decided(house: House, turn_id: str, id: str) -> AgentDecided:
    async with house.store.reading() as unit:
        turn = await unit.plays.turn(turn_id)
        result = await unit.plays.result(turn_id)
    if turn is None or turn.status != "committed" or result is None:
        error = (turn.error if turn is not None else None) or {}
        code, message = error.get("code"), str(error.get("message", "The turn failed. Send the message again."))
        raise _CLASSES.get(code if isinstance(code, int) else 0, BackendError)(message)
    ink = dict(result["ink"]) if isinstance(result["ink"], dict) else {}
    outcome = ink.pop("outcome", None)
    fields = outcome if isinstance(outcome, dict) else {}
    return AgentDecided.model_validate(
        {**fields, "id": id, "turn_id": turn_id, "turn_index": result["turn_index"], "ink": ink}
    )
