"""Play a turn and wait for it: for callers who want its text whole, and no stream."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Final, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.sessions import ShowSession, get_session
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.actions.turns.turn_runner import ending_of
from fabula.actions.turns.watch_turn import frames_of, to_the_end
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, error_from
from fabula.ports.plays import Turn
from fabula.story.events import Completed, Failed
from fabula.story.told_text import text_of_result
from fabula.story.values import Json

PATIENCE_S: Final = 240.0


class PlayTurn(Command):
    """What the player says or does, in their own words; in an Ink story perhaps the number of a `choice` instead."""

    player_input: str | None = None
    choice: int | None = Field(default=None, ge=0)


class TurnPlayed(View):
    """What was told; `choices` are those that an Ink story offers next, `ended` says that the story is over."""

    type: Literal["turn_played"] = "turn_played"
    session_id: str
    turn_id: str
    turn_index: int
    text: str
    choices: list[str]
    ended: bool


@allowed("player")
async def play_turn(house: House, actor: Actor, session_id: str, command: PlayTurn) -> TurnPlayed:
    """Plays one turn of a session with the player's words, and answers with what was told."""
    words = RunTurn(player_input=command.player_input, choice=command.choice)
    turn = await run_turn(house, actor, session_id, words, request_id=house.ids.new("request"))
    try:
        async with asyncio.timeout(PATIENCE_S):
            last = await _last_frame(house, actor, turn)
    except TimeoutError:
        raise Conflict(
            f"The turn '{turn.turn_id}' takes long and goes on. Read the transcript of the session in a while."
        ) from None
    if isinstance(last, Failed):
        raise error_from(last.error)
    session = await get_session(house, actor, session_id, ShowSession(history="none"))
    return TurnPlayed(
        session_id=session_id,
        turn_id=turn.turn_id,
        turn_index=turn.turn_index,
        text=text_of_result(last.result),
        choices=_choices(last.result.get("ink")),
        ended=session.status == "ended",
    )


async def _last_frame(house: House, actor: Actor, turn: Turn) -> Completed | Failed:
    async with aclosing(to_the_end(house, actor, await frames_of(house, turn))) as frames:
        async for _, frame in frames:
            if isinstance(frame.event, (Completed, Failed)):
                return frame.event
    return await ending_of(house, turn.turn_id)


def _choices(ink: Json) -> list[str]:
    offered = ink.get("choices") if isinstance(ink, dict) else None
    return [str(one["text"]) for one in offered or [] if isinstance(one, dict)] if isinstance(offered, list) else []
