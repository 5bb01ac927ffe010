"""The send queue: messages leave in order and together, and what is urgent does not wait for a turn of the loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.ports.actors import Actor
from fabula.server.access.answers import AnswerWeights
from fabula.server.game_socket.send_queue import LARGEST_WAITING, MOST_WAITING, SendQueue, Unread
from fabula.server.game_socket.wire import ServerMessage, pong, written
from fabula.story.npc_events import NpcTurnInterrupted, TagText


class Line:
    """A connection that takes texts, or is stuck until it is freed."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.writes = 0
        self.free = asyncio.Event()
        self.free.set()

    async def send_texts(self, texts: Sequence[str]) -> None:
        await self.free.wait()
        self._take(texts)

    def send_at_once(self, texts: Sequence[str]) -> bool:
        if not self.free.is_set():
            return False
        self._take(texts)
        return True

    def _take(self, texts: Sequence[str]) -> None:
        self.writes += 1
        self.taken += [json.loads(text).get("turn_id", "") for text in texts]


def piece(number: int) -> ServerMessage:
    return written(TagText(agent_id="a", turn_id=str(number), tag_id="t", tag="say", text="x"))


def interruption(number: int) -> ServerMessage:
    return written(NpcTurnInterrupted(agent_id="a", turn_id=str(number), reason="newer_event"))


async def test_what_is_urgent_leaves_at_once_behind_all_that_waits() -> None:
    line = Line()
    queue = SendQueue(line)
    for number in range(3):
        queue.put(piece(number))
    assert line.taken == []
    queue.put(interruption(3))
    assert line.taken == ["0", "1", "2", "3"] and line.writes == 1


async def test_pieces_that_wait_leave_in_one_write() -> None:
    line = Line()
    queue = SendQueue(line)
    sending = asyncio.create_task(queue.send_all())
    for number in range(10):
        queue.put(piece(number))
    await asyncio.sleep(0.01)
    assert (len(line.taken), line.writes) == (10, 1)
    sending.cancel()


async def test_who_does_not_read_overflows_and_gets_no_more() -> None:
    line = Line()
    queue = SendQueue(line)
    line.free.clear()
    sending = asyncio.create_task(queue.send_all())
    for number in range(MOST_WAITING + 2):
        queue.put(interruption(number))
    assert queue.overflowed.is_set() and line.taken == []
    sending.cancel()


@examples(60)
@given(st.lists(st.sampled_from(["piece", "urgent", "stuck", "free", "turn"]), max_size=60))
def test_the_order_stays_whatever_is_urgent_and_whenever_the_line_is_stuck(steps: list[str]) -> None:
    asyncio.run(_in_order(steps))


async def _in_order(steps: list[str]) -> None:
    line = Line()
    queue, put = SendQueue(line), 0
    sending = asyncio.create_task(queue.send_all())
    for step in steps:
        match step:
            case "piece" | "urgent":
                queue.put(piece(put) if step == "piece" else interruption(put))
                put += 1
            case "stuck":
                line.free.clear()
            case "free":
                line.free.set()
            case _:
                await asyncio.sleep(0)
    line.free.set()
    await asyncio.sleep(0.005)
    assert line.taken == [str(number) for number in range(put)]
    sending.cancel()


async def test_more_than_may_wait_in_bytes_lets_a_game_go() -> None:
    line = Line()
    line.free.clear()
    outbox = SendQueue(line)
    for _ in range(5):
        outbox.put(pong("x" * (LARGEST_WAITING // 4), 1))
    assert outbox.overflowed.is_set()


async def test_what_waits_for_all_games_of_a_token_has_a_bound_together() -> None:
    weights, ann = AnswerWeights(heaviest=1_000), Actor(role="player", token_id="a")
    first, second, others = Line(), Line(), Line()
    one, two = (SendQueue(line, Unread(weights, lambda: ann)) for line in (first, second))
    ben = SendQueue(others, Unread(weights, lambda: Actor(role="player", token_id="b")))
    for _ in range(6):
        one.put(pong("x" * 100, 1))
    for _ in range(4):
        two.put(pong("x" * 100, 1))
        ben.put(pong("x" * 100, 1))
    assert two.overflowed.is_set() and not one.overflowed.is_set() and not ben.overflowed.is_set()
    one.end()
    again = SendQueue(second, Unread(weights, lambda: ann))
    for _ in range(6):
        again.put(pong("x" * 100, 1))
    assert not again.overflowed.is_set()


async def test_what_was_read_weighs_no_more() -> None:
    weights, line = AnswerWeights(heaviest=1_000), Line()
    queue = SendQueue(line, Unread(weights, lambda: Actor(role="player", token_id="a")))
    sending = asyncio.create_task(queue.send_all())
    for number in range(200):
        queue.put(piece(number) if number % 3 else interruption(number))
        await asyncio.sleep(0)
    assert not queue.overflowed.is_set() and len(line.taken) == 200
    sending.cancel()


async def test_what_is_told_when_a_connection_is_gone_weighs_nothing() -> None:
    weights, ann = AnswerWeights(heaviest=1_000), Actor(role="player", token_id="a")
    for number in range(50):
        queue = SendQueue(Line(), Unread(weights, lambda: ann))
        queue.put(piece(number))
        queue.end()
        # An NPC that speaks is interrupted after its game has left.
        queue.put(interruption(number))
        queue.put(piece(number))
        assert not queue.overflowed.is_set()
    assert _weighs_nothing(weights, "a")


@examples(100)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["piece", "long", "urgent", "stuck", "free", "turn", "end"])),
        max_size=60,
    )
)
def test_all_that_waited_for_a_token_is_given_back_whatever_its_connections_did(steps: list[tuple[int, str]]) -> None:
    asyncio.run(_given_back(steps))


async def _given_back(steps: list[tuple[int, str]]) -> None:
    """Two connections each of two tokens; one that ended is followed by another."""
    weights, actors = AnswerWeights(heaviest=1_000), [Actor(role="player", token_id=token) for token in "aabb"]

    def connect(place: int) -> tuple[Line, SendQueue, asyncio.Task[None]]:
        line = Line()
        queue = SendQueue(line, Unread(weights, lambda: actors[place]))
        return line, queue, asyncio.create_task(queue.send_all())

    async def leave(place: int) -> None:
        _, queue, sending = games[place]
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        queue.end()

    games = [connect(place) for place in range(4)]
    for place, step in steps:
        line, queue, _ = games[place]
        match step:
            case "piece" | "urgent":
                queue.put(piece(1) if step == "piece" else interruption(1))
            case "long":
                queue.put(pong("x" * 300, 1))
            case "stuck":
                line.free.clear()
            case "free":
                line.free.set()
            case "end":
                await leave(place)
                queue.put(interruption(1))
                games[place] = connect(place)
            case _:
                await asyncio.sleep(0)
    for place in range(4):
        await leave(place)
    assert _weighs_nothing(weights, "a") and _weighs_nothing(weights, "b")


def _weighs_nothing(weights: AnswerWeights, token: str) -> bool:
    """Whether the whole bound is left; the first one is always given."""
    return weights.take(token, 1) and weights.take(token, 999)
