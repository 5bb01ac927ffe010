"""Messages that somebody forged on the broker: none does anything, and a worker listens on after all of them."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from tests.conformance.test_queue_kit import LISTENER, ProcessListener

from fabula.adapters.queues import broker_queue
from fabula.adapters.queues.celery_app import celery_app
from fabula.adapters.queues.celery_queue import CeleryQueue
from fabula.ports.queue import Announcement
from fabula.testing.redis import RedisServer

OURS = "fabula.work"
QUEUE = "fabula.background"
MIB = 2**20


def message(
    body: object = None, *, task: object = OURS, kind: str = "application/json", packed: bool = False, **headers: object
) -> str:
    """A message as Celery writes it to Redis."""
    id = str(uuid4())
    raw = body if isinstance(body, bytes) else json.dumps(body or [["quick", "background"], {}, {}]).encode()
    if packed:
        raw, headers = zlib.compress(raw), {**headers, "compression": "zlib"}
    return json.dumps(
        {
            "body": base64.b64encode(raw).decode(),
            "content-encoding": "utf-8",
            "content-type": kind,
            "headers": {"lang": "py", "task": task, "id": id, "root_id": id, **headers},
            "properties": {
                "correlation_id": id,
                "delivery_info": {"exchange": "", "routing_key": QUEUE},
                "delivery_tag": str(uuid4()),
                "body_encoding": "base64",
                "priority": 0,
            },
        }
    )


AFTER_IT = {
    "task": OURS,
    "args": ["forged", "background"],
    "kwargs": {},
    "options": {"queue": QUEUE},
    "immutable": True,
}
FORGED = {
    "a pickle": message(b"cos\nmkdir\n(S'/nowhere/exploded'\ntR.", kind="application/x-python-serialize"),
    "yaml": message(b'!!python/object/apply:os.mkdir ["/nowhere/x"]', kind="application/x-yaml"),
    "no JSON": "forged",
    "no message": "{}",
    "a list": "[]",
    "another task": message(task="os.system"),
    "a task of Celery's own": message([[{"task": OURS}, [["forged", "background"]]], {}, {}], task="celery.starmap"),
    "a task with no name": message(task=None),
    "a task whose name is a list": message(task=["x"]),
    "a NUL in the id": message([["for\0ged", "background"], {}, {}]),
    "half a letter in the id": message([["forged\ud800", "background"], {}, {}]),
    "an id of a megabyte": message([["x" * MIB, "background"], {}, {}]),
    "an object as id": message([[{"a": 1}, "background"], {}, {}]),
    "a queue that there is not": message([["forged", "of mine"], {}, {}]),
    "an object as queue": message([["forged", {"a": 1}], {}, {}]),
    "too many arguments": message([["forged", "background", 1, 2], {}, {}]),
    "a body that is no list": message({"forged": 1}),
    "a deep body": message(b"[" * 100_000),
}
CHANGED = {
    "a moment that is none": message(eta="tomorrow, perhaps"),
    "a moment far away": message(eta="2999-01-01T00:00:00+00:00"),
    "an end in the past": message(expires="1999-01-01T00:00:00+00:00"),
    "odd limits": message(timelimit=["x", {}], retries="many"),
    "something after it": message([["quick", "background"], {}, {"callbacks": [AFTER_IT], "errbacks": [AFTER_IT]}]),
    "a chain": message([["quick", "background"], {}, {"chain": [AFTER_IT]}]),
    "a chord": message([["quick", "background"], {}, {"chord": AFTER_IT}], group="g", ignore_result=False),
}
COMMANDS: list[dict[str, Any]] = [
    {"method": "shutdown"},
    {"method": "pool_grow", "arguments": {"n": 500}},
    {"method": "cancel_consumer", "arguments": {"queue": QUEUE}},
    {"method": "rate_limit", "arguments": {"task_name": OURS, "rate_limit": "1/h"}},
    {"method": "conf", "reply_to": {"exchange": "x", "routing_key": "y"}, "ticket": "t"},
    {"method": "active_queues", "pattern": "(f|fa|a)+$" * 20 + "!", "matcher": "pcre"},
    {"method": "active_queues", "reply_to": {"exchange": {}, "routing_key": []}, "ticket": []},
    {"method": ["shutdown"]},
    {},
]


class Listening:
    """A worker in a process of its own, what it says, and a way to write beside it."""

    def __init__(self, queue: CeleryQueue, listener: ProcessListener, redis: Any, errors: Path) -> None:
        self.queue, self._listener, self.redis, self._errors = queue, listener, redis, errors

    async def hears(self, work_id: str) -> None:
        """Announces work, and waits until it was given."""
        async with asyncio.timeout(120):
            self.queue.announce([Announcement(work_id=work_id, queue="background", trace_id="t")])
            while work_id not in self.ids:
                await asyncio.sleep(0.02)

    @property
    def ids(self) -> list[str]:
        return [one.work_id for one in self._listener.given()]

    def log(self) -> str:
        return self._errors.read_text("utf-8")


@pytest.fixture
async def listening(redis_server: RedisServer, tmp_path: Path) -> AsyncIterator[Listening]:
    errors, pipe = tmp_path / "errors", asyncio.subprocess.PIPE
    arguments = [sys.executable, str(LISTENER), redis_server.url, "fabula.", "background", "2", "60"]
    with errors.open("wb") as file:
        process = await asyncio.create_subprocess_exec(*arguments, stdin=pipe, stdout=pipe, stderr=file)
    listener, queue = ProcessListener(process), broker_queue(redis_server.url)
    async with Redis.from_url(redis_server.url) as redis, asyncio.timeout(180):
        await listener.is_ready.wait()
        yield Listening(queue, listener, redis, errors)
    await queue.close()
    await listener.kill()


async def test_forged_messages_do_nothing_and_the_worker_listens_on(listening: Listening) -> None:
    packed = message([["forged", "x" * 64 * MIB], {}, {}], packed=True)
    for one in [*FORGED.values(), packed, *[message(task="os.system")] * 300]:
        await listening.redis.lpush(QUEUE, one)
    await listening.hears("quick-last")
    assert listening.ids == ["quick-last"]
    said = listening.log()
    assert "Traceback" not in said and len(said) < 8_000


async def test_what_is_far_too_large_is_dropped_before_it_is_decoded(listening: Listening) -> None:
    large = message(x=[[]] * MIB)
    for _ in range(3):
        await listening.redis.lpush(QUEUE, large)
    await listening.redis.publish("/0.celery.pidbox", large)
    await listening.hears("quick-last")
    said = listening.log()
    assert listening.ids == ["quick-last"] and not await listening.redis.llen(QUEUE)
    assert said.count("far larger than a message of ours") == 4 and "was not ours" not in said


async def test_a_message_that_was_not_acknowledged_is_dropped_as_well_where_it_is_far_too_large(
    redis_server: RedisServer,
) -> None:
    def give_again(tag: str) -> None:
        with celery_app(redis_server.url, "fabula.").connection_for_read() as connection:
            connection.default_channel.qos.restore_by_tag(tag)

    async with Redis.from_url(redis_server.url) as redis:
        await redis.hset("unacked", "forged", json.dumps([json.loads(message(x=[[]] * MIB)), "", QUEUE]))
        await redis.zadd("unacked_index", {"forged": 1})
        await asyncio.to_thread(give_again, "forged")
        assert not await redis.exists("unacked", "unacked_index", QUEUE)


@pytest.mark.all
async def test_what_else_a_message_asks_for_is_not_done(listening: Listening) -> None:
    for one in CHANGED.values():
        await listening.redis.lpush(QUEUE, one)
    async with asyncio.timeout(120):
        while listening.ids.count("quick") < len(CHANGED):
            await asyncio.sleep(0.02)
    await listening.hears("quick-last")
    assert set(listening.ids) == {"quick", "quick-last"} and "Traceback" not in listening.log()


@pytest.mark.all
async def test_commands_of_strangers_are_not_obeyed(listening: Listening) -> None:
    for command in COMMANDS:
        told = json.loads(message(command))
        told["properties"]["delivery_info"] = {"exchange": "celery.pidbox", "routing_key": ""}
        assert await listening.redis.publish("/0.celery.pidbox", json.dumps(told))
    await listening.hears("quick-last")
    assert list((await listening.queue.status()).listeners.values()) == [["background"]]
    assert "Traceback" not in listening.log()
