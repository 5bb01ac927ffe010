"""Say something to a character and wait for what comes of it; saying it twice under one id is saying it once."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import play_of, state_at
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.errors import BackendError, Conflict, error_from
from fabula.ports.plays import Play, Turn
from fabula.ports.store import Unit
from fabula.story.values import JsonObject

MESSAGE = "\x1fdecision:"
"""Before the id of a message, so that it names a request: clients name theirs without control characters."""

OLD_MESSAGE = "decision:"
"""What once stood there; any request may be named like this, too."""

_NOBODY = "Nobody is being talked to now. Look at the session's `ink.input`."


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


@allowed("player")
async def say_to_agent(house: House, actor: Actor, session_id: str, command: SayToAgent) -> AgentDecided:
    """Plays a message to a character; the same id gets the same answer, and never speaks twice."""
    turn = await _known(house, actor, session_id, command)
    if turn is None:
        turn = await _begun(house, actor, session_id, command)
    await _end_of(house, turn)
    return await _decided(house, turn.turn_id, command.id)


async def _begun(house: House, actor: Actor, session_id: str, command: SayToAgent) -> Turn:
    """Begins the turn; where the same message was a moment faster, its turn is the one."""
    await _somebody_listens(house, actor, session_id)
    words, request_id = RunTurn(player_input=command.input), MESSAGE + command.id

    async def unless_said(unit: Unit) -> None:
        if await _found(unit, actor, session_id, command) is not None:
            raise Conflict("This message was said a moment ago.")

    try:
        return await run_turn(house, actor, session_id, words, request_id=request_id, unless=unless_said)
    except Conflict:
        turn = await _known(house, actor, session_id, command)
        if turn is None:
            raise
        return turn


async def _known(house: House, actor: Actor, session_id: str, command: SayToAgent) -> Turn | None:
    async with house.store.reading() as unit:
        return await _found(unit, actor, session_id, command)


async def _found(unit: Unit, actor: Actor, session_id: str, command: SayToAgent) -> Turn | None:
    """The turn of this message, unless it failed and its words were not played since: then it may be sent again."""
    play = await play_of(unit, actor, session_id)
    turn = await _said(unit, session_id, command)
    if turn is None or _is_good(turn):
        return turn
    return await _played_since(unit, play, turn)


async def _said(unit: Unit, session_id: str, command: SayToAgent) -> Turn | None:
    """The last turn of this message. Under the old name only the same words are it."""
    turn = await _talk(unit, session_id, MESSAGE + command.id)
    if turn is not None:
        return turn
    old = await _talk(unit, session_id, OLD_MESSAGE + command.id)
    return old if old is not None and old.player_input == command.input else None


async def _talk(unit: Unit, session_id: str, request_id: str) -> Turn | None:
    """The turn of a request, if somebody was talked to in it."""
    turn = await unit.plays.by_request(session_id, request_id)
    if turn is None or turn.parent_id is None or not await _listens(unit, turn.parent_id):
        return None
    return turn


async def _played_since(unit: Unit, play: Play, failed: Turn) -> Turn | None:
    """The turn in which a failed one's words were played after all, as by trying again; it may still run."""
    later = await unit.plays.tree(play.tree_id, after=failed.turn_id)
    running = None if play.active_turn_id is None else await unit.plays.turn(play.active_turn_id)
    for turn in [*later, *([] if running is None else [running])]:
        if _is_good(turn) and _says_again(turn, failed):
            return turn
    return None


def _says_again(turn: Turn, failed: Turn) -> bool:
    """Whether a turn says the same at the same place. A message of another id does not, whatever its words."""
    same_place = (turn.session_id, turn.parent_id) == (failed.session_id, failed.parent_id)
    is_message = turn.request_id.startswith((MESSAGE, OLD_MESSAGE))
    return same_place and turn.player_input == failed.player_input and not is_message


def _is_good(turn: Turn) -> bool:
    return turn.status in ("running", "committed")


async def _somebody_listens(house: House, actor: Actor, session_id: str) -> None:
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        if not await _listens(unit, play.head_turn_id):
            raise Conflict(_NOBODY)


async def _listens(unit: Unit, turn_id: str) -> bool:
    """Whether a story stands at a talk after a turn."""
    state = await state_at(unit, turn_id)
    return kind_of_play(state).somebody_listens(state)


async def _end_of(house: House, turn: Turn) -> None:
    """Waits for the end of a turn, wherever it runs."""
    while turn.status == "running":
        async for _ in (await house.work.watch(turn.turn_id)).frames:
            pass
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
        error = None if turn is None else turn.error
        raise BackendError("The turn failed. Send the message again.") if error is None else error_from(error)
    ink = dict(result["ink"]) if isinstance(result["ink"], dict) else {}
    outcome = ink.pop("outcome", None)
    if not isinstance(outcome, dict):
        raise Conflict(_NOBODY)
    return AgentDecided.model_validate(
        {**outcome, "id": id, "turn_id": turn_id, "turn_index": result["turn_index"], "ink": ink}
    )
