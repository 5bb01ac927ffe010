"""The stage: what happens in a turn goes from here to everyone who watches, in the frames of the turn stream.

Text that arrives in quick succession is sent as one frame: the first piece at once, what follows within a few
milliseconds together. It costs no one a visible delay and the server a fraction of the work.
"""

from __future__ import annotations

import asyncio

import orjson

from fabula.ports.bus import Sender
from fabula.story.values import JsonObject

GATHER_S = 0.015


class Stage:
    """The writing end of one turn's stream."""

    def __init__(self, sender: Sender[bytes], *, request_id: str, session_id: str) -> None:
        self._sender = sender
        self._head = {"message_type": "stream", "request_id": request_id, "session_id": session_id}
        self._gathered: JsonObject | None = None
        self._texts: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the last frame was sent."""
        return self._ended

    def start(self) -> None:
        """The stream begins."""
        self._send({"type": "started"})

    def tell(self, type: str, **fields: object) -> None:
        """Something happened."""
        self._flush()
        self._send({"type": "event", "body": {"type": type, **fields}})

    def delta(self, type: str, text: str, **fields: object) -> None:
        """Some more text of the same kind; empty text is not worth a frame."""
        if not text:
            return
        body: JsonObject = {"type": type, **fields}  # type: ignore[dict-item]
        if self._timer is not None and self._gathered == body:
            self._texts.append(text)
            return
        self._flush()
        if self._timer is None:
            self._send({"type": "event", "body": {**body, "delta": text}})
            self._gathered = body
            self._timer = asyncio.get_running_loop().call_later(GATHER_S, self._time_is_up)

    def complete(self, result: JsonObject) -> None:
        """The turn is done and kept."""
        self._flush()
        self._send({"type": "completed", "response": {"type": "turn_completed", "result": result}}, last=True)

    def fail(self, error: JsonObject) -> None:
        """The turn failed whole; nothing of it is kept but the player's input."""
        self._flush()
        self._send({"type": "failed", "error": error}, last=True)

    def _time_is_up(self) -> None:
        self._timer = None
        if not self._texts:
            return
        text, gathered = "".join(self._texts), self._gathered
        self._texts = []
        assert gathered is not None
        self._send({"type": "event", "body": {**gathered, "delta": text}})
        self._timer = asyncio.get_running_loop().call_later(GATHER_S, self._time_is_up)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._texts and self._gathered is not None:
            text, self._texts = "".join(self._texts), []
            self._send({"type": "event", "body": {**self._gathered, "delta": text}})

    def _send(self, frame: object, *, last: bool = False) -> None:
        message = {**self._head, "sequence": self._sender.next_sequence, "frame": frame}
        self._ended = self._ended or last
        # Encoders leave room behind what they write, often ten times as much; a copy is as long as it is.
        self._sender.send(memoryview(orjson.dumps(message)).tobytes(), last=last)


class EmptyStage(Stage):
    """A stage that nobody watches, for working out ahead what will be played."""

    def __init__(self) -> None:
        self._ended = False

    def tell(self, type: str, **fields: object) -> None:
        """Nobody hears it."""
