"""One game's connection: reads frames, answers them, and lets the NPCs speak.

1. Where tokens are required and none came with the handshake, `hello` must bring one before anything else is heard. Of
   a stranger little is read, and nothing is logged but for who asks for details.
2. Frames that are too large, too many or no messages are answered with `error`; the connection stays.
3. A token that is revoked meanwhile ends the connection within seconds.
4. A game that does not read is let go with code 1013. When it is gone, calls end and what was sent is kept.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from fabula.actions.care.tokens import find_token, is_valid, token_hash
from fabula.actions.house import House
from fabula.actions.npcs.address_npc import address_npc, gather_company, take_up_turns
from fabula.loops.npc.company import Company
from fabula.ports.actors import Actor
from fabula.ports.errors import FabulaError, LineCrossed, StoreError, TooMany
from fabula.ports.threads import run_in_thread
from fabula.server.access.answers import AnswerWeights
from fabula.server.access.places import Places
from fabula.server.game_socket.batching_socket import sending_on
from fabula.server.game_socket.logs import ConnectionLog, plain_message
from fabula.server.game_socket.pace import (
    ENTRIES_OF_BOUNDARIES,
    ENTRIES_PER_SECOND,
    FRAME_BYTES,
    FRAMES_PER_SECOND,
    TOKEN_FRAME_BYTES,
    TOKEN_FRAMES_PER_SECOND,
    GamePaces,
    Pace,
)
from fabula.server.game_socket.send_queue import SendQueue, Unread, as_text, too_slow
from fabula.server.game_socket.state_budget import HeldStates, StateBudget, WaitingEvents, weight_of
from fabula.server.game_socket.wire import (
    LARGEST_FRAME,
    ClientMessage,
    Hello,
    NpcMessage,
    Ping,
    Problem,
    ServerMessage,
    for_npcs,
    is_problem,
    pong,
    problem,
    read_frame,
    welcome,
    written,
)
from fabula.story.boundaries import Boundaries, categories_problem, limits_of
from fabula.story.npc_events import GameMessage, NoticeCame, NpcEvent, StateCame, ToolsUsed, TurnPlayed
from fabula.story.values import JsonObject

log = logging.getLogger("fabula.game")

TRY_AGAIN_LATER: Final = 1013
POLICY_VIOLATION: Final = 1008
SECONDS_TO_SHOW_A_TOKEN: Final = 10.0
SHORT_FRAME: Final = 16 * 1024
"""A longer one is read in a thread."""
LARGEST_NOTICE: Final = 1024 * 1024
LARGEST_FRAME_OF_A_STRANGER: Final = SHORT_FRAME
MOST_FRAMES_OF_A_STRANGER: Final = 20
SECONDS_TO_SAY_GOODBYE: Final = 5.0
SECONDS_BETWEEN_LOOKS_AT_THE_TOKEN: Final = 3.0
PAUSE_S: Final = 1 / 500
LONG_PAUSE_S: Final = 0.1
"""Where too much comes, reading waits so long after each frame that is passed over: reading them, too, takes time."""
_TOO_MANY_FRAMES: Final = f"Send at most {FRAMES_PER_SECOND} frames a second; each {FRAME_BYTES // 1024} KiB are one."
_TOO_MANY_OF_TOKEN: Final = (
    f"Send at most {TOKEN_FRAMES_PER_SECOND} frames a second on all connections of this token; "
    f"each {TOKEN_FRAME_BYTES // 1024} KiB are one."
)
_TOO_MANY_ENTRIES: Final = (
    f"All agents of this token may keep {ENTRIES_PER_SECOND} things a second; what each of them notices is one. "
    "Tell fewer agents, or more slowly."
)


class Connection:
    """One WebSocket. `actor` is who came through the door; None is somebody who has yet to show a token."""

    def __init__(
        self,
        house: House,
        socket: WebSocket,
        *,
        actor: Actor | None,
        states: StateBudget,
        events: StateBudget,
        places: Places,
        paces: GamePaces,
        unread: AnswerWeights,
    ) -> None:
        self._house, self._socket, self._actor = house, socket, actor
        self._places, self._seated, self._paces = places, False, paces
        self._states, self._events = HeldStates(states, lambda: self._actor), events
        self._game = ""
        self._boundaries: Boundaries | None = None
        self.connection_id = house.ids.new("connection")
        self._send_queue = SendQueue(sending_on(socket), Unread(unread, lambda: self._actor))
        self._pace = Pace(house.clock.monotonic)
        self._log = ConnectionLog(house.settings, self.connection_id, house.clock)
        self._company: Company | None = None
        self._frames_of_a_stranger = 0

    async def run(self) -> None:
        """Serves the connection until it is gone."""
        await self._socket.accept()
        self._tell_server("game connection opened")
        try:
            await self._converse()
        finally:
            await asyncio.shield(self._part())
            self._tell_server("game connection closed")

    def _tell_server(self, sentence: str) -> None:
        log.log(logging.DEBUG if self._actor is None else logging.INFO, sentence, extra=self._facts())

    async def _converse(self) -> None:
        tasks = {
            asyncio.create_task(self._read()),
            asyncio.create_task(self._write()),
            asyncio.create_task(self._watch_send_queue()),
            asyncio.create_task(self._watch_token()),
            *([] if self._actor else [asyncio.create_task(self._watch_door())]),
        }
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            for ended in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(ended, Exception) and not isinstance(ended, WebSocketDisconnect):
                    log.error("game connection failed", extra=self._facts(), exc_info=ended)

    async def _part(self) -> None:
        self._states.let_go()
        self._send_queue.end()
        if self._seated:
            self._places.give_back(self._actor)
        if self._company is not None:
            await self._company.leave()
        try:
            await self._log.close()
        except OSError as error:
            log.warning("the log of a game connection could not be written: %s", error, extra=self._facts())

    async def _read(self) -> None:
        while True:
            event = await self._socket.receive()
            if event["type"] == "websocket.disconnect":
                return
            raw: str | bytes = event.get("text") or event.get("bytes") or ""
            if self._actor is None and not self._bears_with(raw):
                await self._close(POLICY_VIOLATION, _token_needed())
                return
            if not self._pace.allows(len(raw)):
                self._complain()
                await asyncio.sleep(PAUSE_S)
            elif self._actor is not None and not self._paces.frames.allows(self._actor, 1, len(raw)):
                self._complain(_TOO_MANY_OF_TOKEN)
                await asyncio.sleep(LONG_PAUSE_S)
            else:
                await self._hear(raw)

    def _complain(self, sentence: str = _TOO_MANY_FRAMES) -> None:
        if self._pace.complains():
            self._send(problem("busy", sentence))

    def _bears_with(self, raw: str | bytes) -> bool:
        """Whether a stranger may still try to show a token: not with large frames, nor again and again."""
        self._frames_of_a_stranger += 1
        return len(raw) <= LARGEST_FRAME_OF_A_STRANGER and self._frames_of_a_stranger <= MOST_FRAMES_OF_A_STRANGER

    async def _write(self) -> None:
        await self._send_queue.send_all()

    async def _watch_send_queue(self) -> None:
        await self._send_queue.overflowed.wait()
        log.warning("a game does not read and is let go", extra=self._facts())
        if self._company is not None:
            await self._company.leave()
        await self._close(TRY_AGAIN_LATER, too_slow())

    async def _watch_door(self) -> None:
        await asyncio.sleep(SECONDS_TO_SHOW_A_TOKEN)
        if self._actor is None:
            await self._close(POLICY_VIOLATION, _token_needed())
        await asyncio.Event().wait()

    async def _watch_token(self) -> None:
        """Ends when the token that the game came with was revoked."""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS_AT_THE_TOKEN)
            if self._actor is not None and not await self._may_stay(self._actor):
                log.info("the token of a game connection was revoked", extra=self._facts())
                if self._company is not None:
                    await self._company.leave()
                await self._close(POLICY_VIOLATION, _token_revoked())
                return

    async def _may_stay(self, actor: Actor) -> bool:
        try:
            return await is_valid(self._house, actor)
        except FabulaError as error:
            # A store that is busy for a moment is no reason to end a game; the next look comes soon.
            log.warning("a token could not be looked up: %s", error.message, extra=self._facts())
            return True

    async def _close(self, code: int, why: Problem) -> None:
        """Says why and closes; whoever does not read cannot be told, and is not waited for."""
        try:
            async with asyncio.timeout(SECONDS_TO_SAY_GOODBYE):
                await self._socket.send_text(as_text(why))
                await self._socket.close(code, why["message"][:120])
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            log.debug("a game could not be told why its connection ends", extra=self._facts())

    async def _hear(self, raw: str | bytes) -> None:
        if len(raw) > LARGEST_FRAME:
            self._send(_too_large())
            return
        # What comes from a stranger is short, see `_bears_with`.
        is_long = len(raw) > SHORT_FRAME
        message, plain = await run_in_thread(_read_and_log, raw) if is_long else _read_and_log(raw)
        if is_problem(message):
            self._send(message if self._actor else _token_needed())
            return
        if isinstance(message, Hello) and self._actor is None:
            try:
                shown = await self._shown(message.token)
            except StoreError as error:
                await self._close(TRY_AGAIN_LATER, problem("busy", error.message))
                raise WebSocketDisconnect(TRY_AGAIN_LATER) from None
            if shown is not None and not self._places.take(shown):
                await self._close(TRY_AGAIN_LATER, _too_many_open(self._places.most))
                raise WebSocketDisconnect(TRY_AGAIN_LATER)
            self._actor, self._seated = shown, shown is not None
        if self._actor is None:
            self._send(_token_needed())
            return
        if plain is not None:
            self._log.heard(plain)
        await self._answer(self._actor, message, raw)

    async def _answer(self, actor: Actor, message: ClientMessage, raw: str | bytes) -> None:
        if isinstance(message, Hello):
            await self._welcome(actor, message, len(raw))
        elif isinstance(message, Ping):
            self._send(pong(message.id, self._house.clock.now_ms()))
        else:
            await self._address(actor, message, raw)

    async def _address(self, actor: Actor, message: NpcMessage, raw: str | bytes) -> None:
        told = for_npcs(message)
        if is_problem(told):
            self._send(told)
            return
        company = await self._gathered(actor)
        if (refusal := self._too_much(told, raw, company)) is not None:
            self._send(refusal)
        elif isinstance(told, NoticeCame) and not self._pace.allows(len(raw) * company.listeners(told)):
            self._complain()
        elif not self._paces.entries.allows(actor, entries_for(told, company), len(raw)):
            self._complain(_TOO_MANY_ENTRIES)
        else:
            try:
                await address_npc(self._house, actor, company, told)
            except TooMany as error:
                self._send(problem("busy", error.message, agent_id=getattr(message, "agent_id", None)))
            except LineCrossed as error:
                self._send(problem("line_crossed", error.message, agent_id=getattr(message, "agent_id", None)))

    def _too_much(self, told: GameMessage, raw: str | bytes, company: Company) -> Problem | None:
        """Why something is not passed on although it can be read: each NPC keeps its own copy."""
        if isinstance(told, NoticeCame) and len(raw) * company.listeners(told) > LARGEST_NOTICE:
            most = LARGEST_NOTICE // 1024
            return problem("too_large", f"All that notice something keep {most} KiB of it. Send it to fewer agents.")
        if isinstance(told, StateCame) and not self._states.take(told.agent_id, weight_of(raw)):
            sentence = "The states of all agents of this token are too large together. Send shorter ones."
            return problem("too_large", sentence, agent_id=told.agent_id)
        return None

    async def _welcome(self, actor: Actor, hello: Hello, size: int) -> None:
        # NPCs that already listen belong to the game under whose name they were first spoken to. A game that does not
        # look at what it is told must not speak to those of another one.
        if self._company is None and (name := game_name(hello.client)):
            self._game = name
        if hello.boundaries is not None and (why := await self._boundaries_problem(actor, hello.boundaries, size)):
            self._send(why)
            return
        if hello.boundaries is not None:
            self._boundaries = hello.boundaries
        if hello.resume and not self._paces.resumes.allows(actor, 1, 0):
            sentence = "This token's games resume too often. Send the same `hello` again in a few seconds."
            self._send(problem("busy", sentence))
            return
        resume = await self._resumed(actor, hello.resume)
        self._send(welcome(self.connection_id, resume))

    async def _boundaries_problem(self, actor: Actor, boundaries: Boundaries, size: int) -> Problem | None:
        """Why boundaries are not taken; those that are were made ready, which takes as long as they have words."""
        if boundaries == self._boundaries:
            return None
        if (why := categories_problem(boundaries.categories)) is not None:
            return problem("too_large", why)
        if not self._paces.entries.allows(actor, ENTRIES_OF_BOUNDARIES, size):
            return problem("busy", "The boundaries of this token's games change too often. Send `hello` again later.")
        await run_in_thread(limits_of, boundaries)
        return None

    async def _shown(self, token: str | None) -> Actor | None:
        found = await find_token(self._house, token_hash(token)) if token else None
        if found is None or found.revoked_at_ms is not None:
            return None
        return Actor(role=found.role, token_id=found.token_id)

    async def _resumed(self, actor: Actor, connection_id: str | None) -> JsonObject | None:
        if not connection_id:
            return None
        try:
            turns = await take_up_turns(
                self._house, actor, await self._gathered(actor), game=self._game, connection_id=connection_id[:200]
            )
        except FabulaError as error:
            log.warning("an earlier game connection could not be resumed: %s", error.message, extra=self._facts())
            return None
        return {
            "connection_id": connection_id[:200],
            "unconfirmed": [
                {"agent_id": turn.agent_id, "turn_id": turn.turn_id, "event_id": turn.event_id} for turn in turns
            ],
        }

    async def _gathered(self, actor: Actor) -> Company:
        if self._company is None:
            self._company = await gather_company(
                self._house,
                actor,
                game=self._game,
                connection_id=self.connection_id,
                send=self._tell,
                saw_prompt=self._log.saw_prompt,
                waiting=WaitingEvents(self._events, actor),
                boundaries=lambda: self._boundaries,
            )
        return self._company

    def _facts(self) -> dict[str, Any]:
        return {"facts": {"connection_id": self.connection_id, "game": self._game}}

    def _tell(self, event: NpcEvent) -> None:
        self._send(written(event))

    def _send(self, message: ServerMessage) -> None:
        if self._actor is not None:
            # Nothing of a stranger is written to disk.
            self._log.told(message)
        self._send_queue.put(message)


def _read_and_log(raw: str | bytes) -> tuple[ClientMessage | Problem, dict[str, Any] | None]:
    """What a frame says, and what is logged of it."""
    message = read_frame(raw)
    return message, None if is_problem(message) else plain_message(message)


def entries_for(told: GameMessage, company: Company) -> int:
    """How much is written down for a message. What asks for an answer counts as a call, and states are not kept."""
    match told:
        case NoticeCame():
            return company.listeners(told)
        case TurnPlayed() | ToolsUsed():
            return 1
        case _:
            return 0


def game_name(client: str | JsonObject | None) -> str:
    """The game that a client belongs to: its own word for it, or the `game`, `id` or `name` that it gives."""
    if isinstance(client, dict):
        named = (client.get(key) for key in ("game", "id", "name"))
        client = next((name for name in named if isinstance(name, str) and name.strip()), "")
    plain = "".join(char for char in client or "" if char.isprintable())
    return plain.strip()[:200]


def _token_needed() -> Problem:
    sentence = "Send `hello` with an access token first. `fabula token create` on the server makes one."
    return problem("unauthorized", sentence)


def _token_revoked() -> Problem:
    return problem("unauthorized", "This access token was revoked. Connect again with another one.")


def _too_many_open(most: int) -> Problem:
    return problem("busy", f"This access token has {most} connections open already. Close some of them first.")


def _too_large() -> Problem:
    return problem("too_large", f"A frame may have {LARGEST_FRAME // 1024} KiB. Send less at once.")
