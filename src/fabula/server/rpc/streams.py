"""Methods that answer with the turn stream: they begin a turn, and the door listens to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from fabula.actions.authority import least_role
from fabula.actions.conversations.open_conversation import SayInConversation, say_in_conversation
from fabula.actions.house import House
from fabula.actions.turns import run_turn
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.plays import Turn
from fabula.server.rpc.method import Call, Method, first_sentence


class Begin(Protocol):
    async def __call__(
        self, house: House, actor: Actor, /, session_id: str, command: Any, *, request_id: str
    ) -> Turn: ...


@dataclass(frozen=True, kw_only=True)
class StreamingMethod(Method):
    """A method whose answer is a stream; `begin` makes the turn that is streamed."""

    begin: Callable[[House, Any, Call], Awaitable[Turn]]


def streaming_method(name: str, command: type[Command], begin: Begin) -> StreamingMethod:
    """A method that begins a turn of the session in the envelope."""

    async def start(house: House, given: Any, call: Call) -> Turn:
        assert call.session_id is not None
        return await begin(house, call.actor, call.session_id, given, request_id=call.request_id)

    async def handle(house: House, given: Any, call: Call) -> View:
        await start(house, given, call)
        return run_turn.TurnAccepted()

    return StreamingMethod(
        name=name,
        command=command,
        result=run_turn.TurnAccepted,
        handler=handle,
        role=least_role(begin),
        summary=first_sentence(begin.__doc__),
        session_bound=True,
        begin=start,
    )


def turn_methods() -> list[Method]:
    """The methods that play a turn."""
    return [
        streaming_method("session.run_turn", run_turn.RunTurn, run_turn.run_turn),
        streaming_method("session.retry_turn", run_turn.RetryTurn, run_turn.retry_turn),
        streaming_method("session.regenerate", run_turn.Regenerate, run_turn.regenerate),
        streaming_method("session.replay", run_turn.Replay, run_turn.replay),
        streaming_method("conversation.say", SayInConversation, say_in_conversation),
    ]
