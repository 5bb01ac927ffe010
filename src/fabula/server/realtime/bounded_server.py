"""The Socket.IO server with bounds that hold before anybody is asked who they are.

1. Few strangers are connected at once, and each has some seconds to show a token. When more come, who waited longest
   makes way: otherwise those who never show one would keep everybody else out.
2. A packet is text of a bounded size and depth, and few come in one body. Binary ones are not taken, nor a second
   connection on one line.
3. Packets come at a bounded pace: each is answered before the next is read, and whoever floods is let go.
4. What a client sends reaches only the events that there are: never `connect`, which the library would take as well.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final

import orjson
import socketio
from starlette.types import Message, Receive

from fabula.formats.json_bounds import bounds_problem, nul_problem
from fabula.ports.throttle import Throttle
from fabula.server.access.refusals import plain
from fabula.server.game_socket.pace import Pace
from fabula.server.realtime.events import CLIENT_EVENTS
from fabula.server.realtime.request_environ import request_environ
from fabula.server.siblings import Siblings, whole_body

LARGEST_PACKET: Final = 128 * 1024
LARGEST_OF_A_STRANGER: Final = 4 * 1024
PACKETS_PER_SECOND: Final = 20
MOST_STRANGERS: Final = 256
PACKET_LETTERS: Final = 8 * 1024
SECONDS_TO_SHOW_A_TOKEN: Final = 10.0
LINES_A_MINUTE: Final = 20
MOST_PACKETS: Final = 16
MOST_UNREAD: Final = 256
"""So many packets may wait for a client that asks for more: whatever it asks is answered, also with refusals."""
LONGEST_SIGN: Final = 16
POLICY_VIOLATION: Final = 1008
_CONNECT, _DISCONNECT, _EVENT, _ACK = "0123"
_MESSAGE: Final = "4"
_UPGRADE: Final = "5"
_SIGNS: Final = "1235"
"""Close, ping, pong and upgrade, of Engine.IO."""
_BETWEEN_PACKETS: Final = "\x1e"
_PING: Final = "_send_ping"
"""The library's name for what waits until a line is pinged."""

log = logging.getLogger("fabula.realtime")
_library_log = logging.getLogger("fabula.realtime.library")


class _Json:
    """How packets are written and read; the library asks for a module like `json`."""

    @staticmethod
    def dumps(value: Any, separators: object = None) -> str:
        return orjson.dumps(value).decode()

    @staticmethod
    def loads(text: str) -> Any:
        body = text.encode()
        if (problem := bounds_problem(body) or nul_problem(body)) is not None:
            raise ValueError(problem)
        return orjson.loads(body)


class _FewLines(logging.Filter):
    """Anybody can cause as many lines of the library as they like, with words of their own in them."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        super().__init__()
        self._lines = Throttle(monotonic, LINES_A_MINUTE)

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = plain(record.getMessage()[:300]), None
        return self._lines.allows()


_library_log.setLevel(logging.ERROR)
_library_log.addFilter(_FewLines(time.monotonic))


def is_packet(text: str | None) -> bool:
    """Whether a text can be a packet of a client. The library would try to read anything, and fail loudly."""
    if not text or len(text) > LARGEST_PACKET:
        return False
    # A message carries a packet of Socket.IO, which begins with a digit; all others are a word at most.
    return text[1:2].isdecimal() if text[0] == _MESSAGE else text[0] in _SIGNS and len(text) <= LONGEST_SIGN


def checked_receive(receive: Receive, monotonic: Callable[[], float]) -> Receive:
    """What a WebSocket brings, as far as the first text that is no packet, or one sign too many."""
    pace, upgrades = Pace(monotonic, per_second=PACKETS_PER_SECOND), 0

    async def checked() -> Message:
        nonlocal upgrades
        message = await receive()
        if message["type"] != "websocket.receive":
            return message
        text = message.get("text") or ""
        # Packets of Socket.IO have a pace of their own. Each upgrade is answered with a packet that waits to be read.
        upgrades += text[:1] == _UPGRADE
        if not is_packet(text) or upgrades > 1 or (text[0] != _MESSAGE and not pace.allows()):
            return {"type": "websocket.disconnect", "code": POLICY_VIOLATION}
        return message

    return checked


def _may_be_posted(text: str) -> bool:
    """An upgrade is a matter of WebSockets, and each would be answered with a packet that waits to be read."""
    return is_packet(text) and text[0] != _UPGRADE


async def checked_body(receive: Receive, *, may_be_empty: bool = False) -> Receive | None:
    """The body of a request, to be read again; None if it holds what is no packet, or too many, or nobody is there.

    The library fails loudly at a request whose client has left, and anybody may leave.
    """
    body = await whole_body(receive)
    if body is None or (may_be_empty and body):
        return None
    packets = body.decode("utf-8", "replace").split(_BETWEEN_PACKETS)
    if len(packets) > MOST_PACKETS or not (may_be_empty or all(map(_may_be_posted, packets))):
        return None
    whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return whole.pop() if whole else await receive()

    return again


class BoundedServer(socketio.AsyncServer):  # type: ignore[misc]
    """Lines (of Engine.IO) are known by `eio_sid`; one is a stranger's until `connect` let it in."""

    def __init__(
        self,
        *,
        on_gone: Callable[[str], None],
        monotonic: Callable[[], float] = time.monotonic,
        siblings: Siblings | None = None,
    ) -> None:
        super().__init__(
            async_mode="asgi",
            # The guard has checked Host and Origin, and writes the headers for pages of other origins.
            cors_allowed_origins=[],
            max_http_buffer_size=LARGEST_PACKET,
            http_compression=False,
            async_handlers=False,
            namespaces=["/"],
            json=_Json,
            logger=_library_log,
            engineio_logger=_library_log,
        )
        if siblings is not None:
            new_id = self.eio.generate_id
            self.eio.generate_id = lambda: siblings.mark(new_id())
        self.eio._async = {**self.eio._async, "translate_request": request_environ}
        self.eio.start_background_task = self._start_task
        self._on_gone, self._monotonic = on_gone, monotonic
        self._strangers: dict[str, asyncio.TimerHandle] = {}
        self._paces: dict[str, Pace] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._pings: dict[str, asyncio.Task[Any]] = {}

    @property
    def stranger_count(self) -> int:
        return len(self._strangers)

    def know(self, eio_sid: str) -> None:
        """A line has shown who it is."""
        if (waiting := self._strangers.pop(eio_sid, None)) is not None:
            waiting.cancel()

    def waiting_for(self, eio_sid: str) -> int:
        """How many packets wait to be sent on a line; a large one counts as several."""
        line = self.eio.sockets.get(eio_sid)
        # The library's queue tells how many there are, but not how large: the end of a turn brings its whole state.
        waiting = () if line is None else line.queue._queue
        return sum(1 + len(getattr(packet, "data", None) or "") // PACKET_LETTERS for packet in waiting)

    def is_open(self, eio_sid: str) -> bool:
        line = self.eio.sockets.get(eio_sid)
        return line is not None and not line.closed and not line.closing

    async def send_event(self, eio_sid: str, name: str, body: object) -> None:
        """Sends an event on one line; `body` is what orjson takes. To one that is gone nothing is sent."""
        if self.is_open(eio_sid):
            await self.eio.send(eio_sid, _EVENT + orjson.dumps([name, body]).decode())

    def let_go(self, eio_sid: str) -> None:
        """Ends a line soon."""
        task = asyncio.create_task(self._end(eio_sid))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _end(self, eio_sid: str) -> None:
        """The library only asks a client to close, and waits until it has read that; here the line is closed."""
        line = self.eio.sockets.get(eio_sid)
        if line is not None:
            await line.close(wait=False, reason=self.eio.reason.SERVER_DISCONNECT)
            self.eio.sockets.pop(eio_sid, None)
            line.queue.put_nowait(None)

    def _start_task(self, target: Callable[..., Coroutine[Any, Any, Any]], *args: Any, **kwargs: Any) -> Any:
        """Starts a task of the library. The next ping of a line keeps the line in memory, so it ends with it."""
        task = asyncio.ensure_future(target(*args, **kwargs))
        if target.__name__ == _PING and (eio_sid := target.__self__.sid) in self._paces:  # type: ignore[attr-defined]
            self._pings[eio_sid] = task
        return task

    async def _handle_eio_connect(self, eio_sid: str, environ: Any) -> str | None:
        if len(self._strangers) >= MOST_STRANGERS:
            longest = next(iter(self._strangers))
            self.know(longest)
            # Without a pace nothing is heard any more.
            self._paces.pop(longest, None)
            self.let_go(longest)
        self._paces[eio_sid] = Pace(self._monotonic, per_second=PACKETS_PER_SECOND)
        later = asyncio.get_running_loop().call_later
        self._strangers[eio_sid] = later(SECONDS_TO_SHOW_A_TOKEN, self.let_go, eio_sid)
        await super()._handle_eio_connect(eio_sid, environ)
        return None

    async def _handle_eio_disconnect(self, eio_sid: str, reason: Any) -> None:
        self.know(eio_sid)
        self._paces.pop(eio_sid, None)
        if (ping := self._pings.pop(eio_sid, None)) is not None:
            ping.cancel()
        self._on_gone(eio_sid)
        if (line := self.eio.sockets.get(eio_sid)) is not None:
            # A request that polls would wait for more, for as long as a ping may take.
            line.queue.put_nowait(None)
        await super()._handle_eio_disconnect(eio_sid, reason)

    async def _handle_eio_message(self, eio_sid: str, data: Any) -> None:
        """This is a door: what is no packet, or too many of them, ends the line."""
        if not self._bears_with(eio_sid, data):
            self.let_go(eio_sid)
            return
        try:
            await super()._handle_eio_message(eio_sid, data)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            log.debug("a packet of Socket.IO could not be read: %s", plain(str(error)[:200]))
            self.let_go(eio_sid)

    def _bears_with(self, eio_sid: str, data: Any) -> bool:
        pace = self._paces.get(eio_sid)
        if pace is None or not isinstance(data, str) or not pace.allows(len(data)) or self._reads_too_little(eio_sid):
            return False
        if eio_sid in self._strangers:
            return data[:1] == _CONNECT and len(data) <= LARGEST_OF_A_STRANGER
        return data[:1] in (_DISCONNECT, _EVENT, _ACK)

    def _reads_too_little(self, eio_sid: str) -> bool:
        line = self.eio.sockets.get(eio_sid)
        return line is not None and line.queue.qsize() > MOST_UNREAD

    async def _handle_event(self, eio_sid: str, namespace: Any, id: Any, data: Any) -> None:
        if not isinstance(data, list) or not data or data[0] not in CLIENT_EVENTS or len(data) > 2:
            raise ValueError("There is no such event.")
        await super()._handle_event(eio_sid, namespace, id, data)
