"""One client at the Socket.IO door: what it asks for is begun at once, and told by tasks of its own.

1. `storybeat` begins a turn and is acknowledged; a task sends its tokens as they come, then `done` or `error`.
2. `watch` has another task send the session's feed and the frames of its turns.
3. A client that does not read is waited for, and let go when it does not read for long. Its turns go on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Final

import orjson

from fabula.actions.authority import least_role
from fabula.actions.care.pace import check_calls
from fabula.actions.decode import decode
from fabula.actions.house import House
from fabula.actions.turns.request_ids import run_turn_once
from fabula.actions.turns.run_turn import CancelTurn, RunTurn, cancel_turn
from fabula.actions.turns.watch_session import Watched, WatchedFrame, watch_session
from fabula.actions.turns.watch_turn import frames_of, to_the_end
from fabula.actions.views import Command
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, FabulaError
from fabula.ports.meters import STREAMS_OPEN
from fabula.ports.plays import Turn
from fabula.server.error_codes import INSIDE, error_payload
from fabula.server.realtime.events import Cancel, StoryBeat, Unwatch, Watch
from fabula.server.stream.envelope import frame_json
from fabula.story.events import Completed, Failed, Started, Told, event_json, plain
from fabula.story.player_views import event_for_players
from fabula.story.told_text import TextFlow, text_of_result
from fabula.story.values import JsonObject

log = logging.getLogger("fabula.realtime")

MOST_BEATS: Final = 8
MOST_WATCHED: Final = 16
MOST_UNSENT: Final = 64
"""So many packets may wait for a client; then what tells it more waits, too."""
SECONDS_TO_READ: Final = 30.0
_LOOK_EVERY_S: Final = 0.05

Send = Callable[[str, object], Awaitable[None]]


class ClientGone(Exception):
    """Nobody is there to be told any more."""


class Line:
    """How a connection speaks: `send` an event, how many wait, whether it is open, and how it is ended."""

    def __init__(
        self, *, send: Send, waiting: Callable[[], int], is_open: Callable[[], bool], end: Callable[[], None]
    ) -> None:
        self.send, self.waiting, self.is_open, self.end = send, waiting, is_open, end

    async def tell(self, event: str, body: object) -> None:
        """Sends an event once there is room for it; raises ClientGone where nobody reads."""
        waited = 0.0
        while self.waiting() > MOST_UNSENT:
            if not self.is_open() or waited > SECONDS_TO_READ:
                self.end()
                raise ClientGone
            await asyncio.sleep(_LOOK_EVERY_S)
            waited += _LOOK_EVERY_S
        if not self.is_open():
            raise ClientGone
        await self.send(event, body)


class RealtimeConnection:
    """A client that was let in as `actor`."""

    def __init__(self, house: House, actor: Actor, line: Line) -> None:
        self.actor = actor
        self._house, self._line = house, line
        self._beats: set[asyncio.Task[None]] = set()
        self._watches: dict[str, asyncio.Task[None]] = {}

    async def answer(self, event: str, command: type[Command], data: object) -> JsonObject:
        """Does what an event asks for, and answers its acknowledgement. What nobody expected is logged once, here."""
        try:
            await check_calls(self._house, self.actor)
            given = decode(command, data if isinstance(data, dict) else {})
            return {"ok": True, **await self._do(given)}
        except FabulaError as error:
            problem = _problem(error)
        except Exception:
            log.exception("%s failed", event)
            problem = _problem(INSIDE)
        named = _names_in(data)
        await self._line.send("error", {**problem, **named})
        return {"ok": False, "error": {**problem, **named}}

    def leave(self) -> None:
        """Ends what is being told. Turns go on without their listener."""
        for task in (*self._beats, *self._watches.values()):
            task.cancel()

    async def _do(self, command: Command) -> JsonObject:
        match command:
            case StoryBeat():
                return await self._play(command)
            case Cancel():
                self.actor.must_be(least_role(cancel_turn), "cancel")
                stopped = await cancel_turn(self._house, self.actor, command.session_id, CancelTurn(keep=command.keep))
                return {"turn_id": stopped.turn_id, "kept": stopped.kept}
            case Watch():
                return await self._watch(command)
            case Unwatch():
                if (task := self._watches.pop(command.session_id, None)) is not None:
                    task.cancel()
                return {}
            case _:
                raise TypeError(f"{type(command).__name__} is no event of a client")

    async def _play(self, beat: StoryBeat) -> JsonObject:
        self.actor.must_be(least_role(run_turn_once), "storybeat")
        if len(self._beats) >= MOST_BEATS:
            raise Conflict(f"{MOST_BEATS} turns are told to this connection already. Wait until one is over.")
        words = RunTurn(player_input=beat.input, choice=beat.choice, key=beat.key)
        turn = await run_turn_once(self._house, self.actor, beat.session_id, words, request_id=beat.request_id)
        self._start(self._beats, self._tell_beat(turn, beat.request_id))
        return {"turn_id": turn.turn_id}

    def _start(self, tasks: set[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(self._told_safely(work))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def _told_safely(self, work: Coroutine[Any, Any, None]) -> None:
        self._house.meters.add(STREAMS_OPEN)
        try:
            await work
        except ClientGone:
            pass
        except Exception:
            log.exception("telling a client of Socket.IO failed")
            self._line.end()
        finally:
            self._house.meters.add(STREAMS_OPEN, amount=-1)

    async def _tell_beat(self, turn: Turn, request_id: str) -> None:
        """The whole turn as text. One that another process had to take up is told anew."""
        flow = TextFlow()
        async with aclosing(to_the_end(self._house, self.actor, await frames_of(self._house, turn))) as frames:
            async for _, frame in frames:
                await self._tell_piece(turn, request_id, flow, frame.event)

    async def _tell_piece(self, turn: Turn, request_id: str, flow: TextFlow, event: Told) -> None:
        asked = {"request_id": request_id}
        match event:
            case Started():
                flow.take(event)
                begun = {**asked, "session_id": turn.session_id, "turn_id": turn.turn_id}
                await self._line.tell("processing", begun)
            case Completed():
                result = event.result if self.actor.sees_plans else self._shown(event)
                named = {"session_id": turn.session_id, "turn_id": turn.turn_id, "result": result}
                text = text_of_result(event.result)
                await self._line.tell("done", {"full_text": text, **asked, "success": True, "metadata": named})
            case Failed():
                frame = frame_json(event)
                await self._line.tell("error", {**frame["error"], **asked, "session_id": turn.session_id})
            case _:
                if (piece := flow.take(event)) is not None:
                    who = {} if piece.speaker_id is None else {"speaker_id": piece.speaker_id}
                    await self._line.tell("new_token", {"token": piece.text, **asked, **who})

    def _shown(self, event: Completed) -> JsonObject:
        shown = event_for_players(event)
        assert isinstance(shown, Completed)
        return shown.result

    async def _watch(self, command: Watch) -> JsonObject:
        self.actor.must_be(least_role(watch_session), "watch")
        session_id = command.session_id
        if session_id not in self._watches and len(self._watches) >= MOST_WATCHED:
            raise Conflict(f"This connection watches {MOST_WATCHED} sessions already. Send `unwatch` for one first.")
        watched = await watch_session(self._house, self.actor, session_id, command.after)
        if (before := self._watches.pop(session_id, None)) is not None:
            before.cancel()

        async def tell() -> None:
            problem: JsonObject = {}
            try:
                async with aclosing(watched):
                    async for one in watched:
                        await self._line.tell(*self._message(session_id, one))
            except FabulaError as error:
                problem = {"error": _problem(error)}
            self._watches.pop(session_id, None)
            await self._line.tell("watch_ended", {"session_id": session_id, **problem})

        self._watches[session_id] = asyncio.create_task(self._told_safely(tell()))
        return {}

    def _message(self, session_id: str, one: Watched) -> tuple[str, object]:
        if not isinstance(one, WatchedFrame):
            event = orjson.Fragment(orjson.dumps(event_json(one.event), default=plain))
            return "feed", {"id": one.id, "session_id": session_id, "event": event}
        told = one.frame.event if self.actor.sees_plans else event_for_players(one.frame.event)
        message = {
            "id": one.id,
            "session_id": session_id,
            "turn_id": one.turn.turn_id,
            "request_id": one.turn.request_id,
            "sequence": one.frame.sequence,
            "frame": orjson.Fragment(orjson.dumps(frame_json(told), default=plain)),
        }
        return "turn", message


def _problem(error: FabulaError) -> JsonObject:
    return error_payload(error)


def _names_in(data: object) -> JsonObject:
    """The request and session that an event names, repeated in its refusal as far as they can be names."""
    given = data if isinstance(data, dict) else {}
    return {
        name: value
        for name in ("request_id", "session_id")
        if isinstance(value := given.get(name), str) and len(value) <= 256
    }
