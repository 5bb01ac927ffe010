"""Feeds over Redis: one channel that all servers publish to and listen to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from redis.exceptions import RedisError

from fabula.adapters.bus import place_of
from fabula.adapters.bus.redis import redis_client
from fabula.adapters.bus.shared import TransportAway

CHANNEL = "fabula:feeds"
WAIT_S = 3.0


class RedisChannel:
    """A connection to publish, and one that listens."""

    def __init__(self, address: str) -> None:
        self.name = f"Redis at {place_of(address)}"
        self._client = redis_client(address)

    async def send(self, notes: Sequence[str]) -> None:
        try:
            pipeline = self._client.pipeline(transaction=False)
            for note in notes:
                pipeline.publish(CHANNEL, note)
            await pipeline.execute()
        except (RedisError, OSError) as error:
            raise TransportAway(str(error) or type(error).__name__) from error

    async def listen(self, listening: Callable[[], None], heard: Callable[[str], None]) -> None:
        pubsub = self._client.pubsub()
        try:
            await pubsub.subscribe(CHANNEL)
            while True:
                message = await pubsub.get_message(timeout=WAIT_S)
                if message is not None and message["type"] == "subscribe":
                    listening()
                elif message is not None and message["type"] == "message":
                    # Others may write to this Redis, too: what is no text is none of ours, and passed over as such.
                    heard(message["data"].decode("utf-8", "replace"))
        except (RedisError, OSError) as error:
            raise TransportAway(str(error) or type(error).__name__) from error
        finally:
            with suppress(RedisError, OSError):
                await pubsub.aclose()

    async def close(self) -> None:
        with suppress(OSError):
            await self._client.aclose()
