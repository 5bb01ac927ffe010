"""What stands around every client: retries, deadline, memo and single flight, the loop watch, the record."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.adapters.models.degenerate import LoopWatch
from fabula.adapters.models.journal import Journal
from fabula.adapters.models.memo import Deliver, SingleFlight, memo_key
from fabula.adapters.models.model_guard import Guard, GuardedClient
from fabula.adapters.models.retry import wait_before_next
from fabula.adapters.models.turn_calls import TurnCalls
from fabula.ports.models import (
    CallOrigin,
    CallRecord,
    Message,
    ModelBusy,
    ModelCutOff,
    ModelDenied,
    ModelError,
    ModelRefused,
    ModelReply,
    ModelRequest,
    ModelUnreachable,
    ModelUnusable,
    Piece,
    whole,
)
from fabula.story.values import JsonObject
from fabula.testing.model_kit import RunningClock

Step = str | ModelError | float
"""A piece, a failure, or a wait in seconds."""


class Actor:
    """A client that plays one list of steps per call, and counts how it was asked and left."""

    fingerprint = "played"

    def __init__(self, *calls: list[Step]) -> None:
        self.calls = list(calls)
        self.requests: list[ModelRequest] = []
        self.abandoned = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece | ModelReply, None]:
        steps = self.calls[min(len(self.requests), len(self.calls) - 1)]
        self.requests.append(request)
        said = ""
        try:
            for step in steps:
                if isinstance(step, ModelError):
                    raise step
                if isinstance(step, float):
                    await asyncio.sleep(step)
                    continue
                said += step
                yield Piece(text=step)
        except (asyncio.CancelledError, GeneratorExit):
            self.abandoned += 1
            raise
        yield ModelReply(text=said, model="played")

    async def close(self) -> None:
        return None


class PatientClock(RunningClock):
    """A clock whose sleeps pass at once and are written down."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.ahead += seconds
        await asyncio.sleep(0)


class MemoTable:
    """A memo in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[str, JsonObject] = {}

    async def get(self, key: str) -> JsonObject | None:
        await asyncio.sleep(0)
        return self.kept.get(key)

    async def put(self, key: str, reply: JsonObject) -> None:
        self.kept.setdefault(key, reply)


@dataclass
class Stage:
    """A guarded client and everything around it that a test looks at."""

    actor: Actor
    clock: PatientClock = field(default_factory=PatientClock)
    memo: MemoTable = field(default_factory=MemoTable)
    records: list[CallRecord] = field(default_factory=list)
    attempts: int = 4
    calls_per_turn: int = 0

    def __post_init__(self) -> None:
        async def record(calls: Sequence[CallRecord]) -> None:
            self.records.extend(calls)

        self.journal = Journal(clock=self.clock, record=record)
        guard = Guard(
            clock=self.clock,
            journal=self.journal,
            flights=SingleFlight(),
            memo=self.memo,
            attempts=self.attempts,
            chance=lambda: 1.0,
            turn_calls=TurnCalls(self.calls_per_turn),
        )
        self.client = GuardedClient(self.actor, guard)

    def question(self, **more: Any) -> ModelRequest:
        given = {
            "origin": CallOrigin(agent="narrator", session_id="s1"),
            "messages": (Message(role="user", content="Tell me of the sea."),),
            "deadline": self.clock.monotonic() + 30,
        }
        return ModelRequest(**{**given, **more})

    async def recorded(self) -> CallRecord:
        await self.journal.settle()
        return self.records[-1]


BUSY = ModelBusy("Busy. Try again later.")


async def test_a_busy_server_is_asked_again_with_growing_waits() -> None:
    stage = Stage(Actor([BUSY], [BUSY], ["calm"]))
    assert (await whole(stage.client, stage.question())).text == "calm"
    assert stage.clock.slept == [0.25, 0.5]


async def test_the_wait_that_the_server_asks_for_is_kept() -> None:
    stage = Stage(Actor([ModelBusy("Busy.", retry_after_s=7.0)], ["calm"]))
    await whole(stage.client, stage.question())
    assert stage.clock.slept == [7.0]


async def test_no_wait_passes_the_deadline() -> None:
    stage = Stage(Actor([ModelBusy("Busy.", retry_after_s=60.0)], ["calm"]))
    with pytest.raises(ModelBusy):
        await whole(stage.client, stage.question())
    assert stage.clock.slept == []


async def test_after_the_last_attempt_the_failure_is_told() -> None:
    stage = Stage(Actor([ModelUnreachable("Not there.")]), attempts=3)
    with pytest.raises(ModelUnreachable):
        await whole(stage.client, stage.question())
    assert len(stage.actor.requests) == 3


async def test_an_agent_asks_its_model_no_oftener_in_a_turn_than_it_may() -> None:
    stage = Stage(Actor(["calm"], ["calm"], ["calm"], ["calm"]), calls_per_turn=2)
    asked = [CallOrigin(agent="narrator", session_id="s1", turn_id=turn) for turn in ("t1", "t1", "t2")]
    for origin in asked:
        await whole(stage.client, stage.question(origin=origin))
    with pytest.raises(ModelRefused, match="asked its model 2 times in this turn"):
        await whole(stage.client, stage.question(origin=asked[0]))
    assert len(stage.actor.requests) == 3
    assert (await stage.recorded()).outcome == "failed"
    other = CallOrigin(agent="keeper", session_id="s1", turn_id="t1")
    assert (await whole(stage.client, stage.question(origin=other))).text == "calm"


async def test_a_wrong_key_is_not_tried_again() -> None:
    stage = Stage(Actor([ModelDenied("The key is wrong.")], ["never"]))
    with pytest.raises(ModelDenied):
        await whole(stage.client, stage.question())
    assert len(stage.actor.requests) == 1


async def test_what_a_player_has_read_is_not_told_anew() -> None:
    stage = Stage(Actor(["The sea ", ModelCutOff("Cut.")], ["never"]))
    heard = []
    with pytest.raises(ModelCutOff):
        async for part in stage.client.stream(stage.question()):
            heard.append(part)
    assert heard == [Piece(text="The sea ")]


@pytest.mark.parametrize("more", [{"streaming": False}, {"output_schema": {"type": "object"}}], ids=str)
async def test_a_cut_answer_that_nobody_read_is_asked_for_again(more: dict[str, Any]) -> None:
    stage = Stage(Actor(["{", ModelCutOff("Cut.")], ["{", "}"]))
    parts = [part async for part in stage.client.stream(stage.question(**more))]
    assert [part.text for part in parts] == ["{", "}", "{}"]


async def test_a_deadline_before_the_first_piece_is_unreachable_and_ends_the_call() -> None:
    stage = Stage(Actor(["", 30.0]))
    with pytest.raises(ModelError) as late:
        await whole(stage.client, stage.question(deadline=stage.clock.monotonic() + 0.05, streaming=False))
    assert "in time" in late.value.message
    assert stage.actor.abandoned == 1


async def test_a_deadline_in_the_middle_cuts_the_answer_off() -> None:
    stage = Stage(Actor(["The sea ", 30.0]))
    with pytest.raises(ModelCutOff):
        await whole(stage.client, stage.question(deadline=stage.clock.monotonic() + 0.05))
    assert stage.actor.abandoned == 1


async def test_an_answer_that_grows_too_long_is_ended() -> None:
    stage = Stage(Actor([f"word{number} " for number in range(100)]))
    with pytest.raises(ModelUnusable, match="too long"):
        await whole(stage.client, stage.question(max_chars=50))
    assert stage.actor.abandoned == 1


LOOP: list[Step] = ["The wave comes in. "] * 200


async def test_a_looping_answer_is_ended_and_asked_for_once_more_in_another_way() -> None:
    stage = Stage(Actor(LOOP, ["The sea is calm."]))
    reply = await whole(stage.client, stage.question(streaming=False, seed=4, temperature=0.0))
    assert reply.text == "The sea is calm."
    again = stage.actor.requests[1]
    assert (again.seed, again.temperature) == (5, 0.7)


async def test_a_model_that_loops_twice_is_unusable() -> None:
    stage = Stage(Actor(LOOP))
    with pytest.raises(ModelUnusable, match="circles"):
        await whole(stage.client, stage.question(streaming=False))
    assert len(stage.actor.requests) == 2


async def test_an_empty_answer_is_asked_for_once_more() -> None:
    stage = Stage(Actor([ModelUnusable("Nothing was said.")], ["Hello."]))
    assert (await whole(stage.client, stage.question())).text == "Hello."


async def test_a_seeded_answer_is_kept_and_replayed_piece_by_piece() -> None:
    stage = Stage(Actor(["The ", "sea."], ["never"]))
    first = [part async for part in stage.client.stream(stage.question(seed=1))]
    second = [part async for part in stage.client.stream(stage.question(seed=1))]
    assert second[:-1] == first[:-1] == [Piece(text="The "), Piece(text="sea.")]
    assert isinstance(second[-1], ModelReply) and second[-1].memo_hit
    assert len(stage.actor.requests) == 1
    assert (await stage.recorded()).memo_hit


async def test_an_answer_without_a_seed_is_not_kept() -> None:
    stage = Stage(Actor(["one"], ["two"]))
    assert [(await whole(stage.client, stage.question())).text for _ in range(2)] == ["one", "two"]
    assert stage.memo.kept == {}


async def test_a_failed_call_is_not_kept() -> None:
    stage = Stage(Actor([ModelDenied("No.")], ["yes"]))
    with pytest.raises(ModelDenied):
        await whole(stage.client, stage.question(seed=1))
    assert (await whole(stage.client, stage.question(seed=1))).text == "yes"


async def test_callers_who_ask_the_same_at_once_share_one_call() -> None:
    stage = Stage(Actor(["The ", 0.01, "sea."]))
    replies = await asyncio.gather(*(whole(stage.client, stage.question(seed=1)) for _ in range(20)))
    assert {reply.text for reply in replies} == {"The sea."}
    assert sorted(reply.memo_hit for reply in replies) == [False] + [True] * 19
    assert len(stage.actor.requests) == 1


async def test_a_shared_call_fails_for_all_and_outlives_a_reader_who_leaves() -> None:
    stage = Stage(Actor(["The ", 0.02, "sea."]))
    leaver = stage.client.stream(stage.question(seed=1))
    stayer = asyncio.create_task(whole(stage.client, stage.question(seed=1)))
    await anext(leaver)
    await asyncio.sleep(0)
    await leaver.aclose()
    assert (await stayer).text == "The sea."
    failing = Stage(Actor([0.01, ModelDenied("No.")]))
    outcomes = await asyncio.gather(
        *(whole(failing.client, failing.question(seed=1)) for _ in range(3)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [ModelDenied] * 3


async def test_when_the_last_reader_leaves_the_call_ends_upstream() -> None:
    stage = Stage(Actor(["The ", 30.0]))
    async with aclosing(stage.client.stream(stage.question(seed=1))) as parts:
        await anext(parts)
    assert stage.actor.abandoned == 1
    assert (await stage.recorded()).outcome == "cancelled"


async def test_every_call_is_recorded_with_usage_and_origin() -> None:
    stage = Stage(Actor(["a" * 40]))
    await whole(stage.client, stage.question())
    record = await stage.recorded()
    assert (record.outcome, record.origin.session_id, record.model) == ("ok", "s1", "played")
    assert record.usage.completion_tokens == 10 and record.usage.prompt_tokens > 0
    assert record.first_piece_ms is not None


async def test_a_failed_call_is_recorded_with_its_sentence() -> None:
    stage = Stage(Actor([ModelDenied("The key is wrong.")]))
    with pytest.raises(ModelDenied):
        await whole(stage.client, stage.question())
    record = await stage.recorded()
    assert (record.outcome, record.error) == ("failed", "The key is wrong.")


def test_the_memo_key_tells_apart_what_shapes_an_answer_and_nothing_else() -> None:
    stage = Stage(Actor([]))
    asked = stage.question(seed=1)
    key: Callable[[ModelRequest], str] = lambda request: memo_key(request, "model")  # noqa: E731
    assert key(asked) == key(replace(asked, deadline=0.0, origin=CallOrigin(agent="other")))
    others: list[dict[str, Any]] = [{"seed": 2}, {"temperature": 0.5}, {"max_tokens": 9}, {"output_schema": {}}]
    for other in others:
        assert key(replace(asked, **other)) != key(asked)
    assert memo_key(asked, "another model") != key(asked)


@given(st.integers(1, 10), st.integers(1, 10), st.floats(0, 100), st.floats(0, 1))
def test_a_wait_is_never_longer_than_what_remains(tried: int, attempts: int, remaining: float, chance: float) -> None:
    wait = wait_before_next(BUSY, tried=tried, attempts=attempts, remaining=remaining, chance=chance)
    assert wait is None or (0 < wait < remaining and tried < attempts)


def loops(text: str, size: int, *, count_lines: bool = True) -> bool:
    watch = LoopWatch(count_lines=count_lines)
    return any(watch.loops(text[start : start + size]) for start in range(0, len(text), size))


@given(st.text("abc é\n", min_size=1, max_size=150).filter(str.strip), st.integers(1, 200))
def test_any_unit_repeated_for_long_is_noticed(unit: str, size: int) -> None:
    assert loops(unit * (4000 // len(unit) + 4), size, count_lines=False)


def test_honest_prose_lists_rules_and_json_are_left_alone() -> None:
    prose = " ".join(f"On day {day} the boat went out and came home with {day * 3} fish." for day in range(200))
    assert not loops(prose, 5)
    assert not loops("Title\n" + "-" * 80 + "\nText that goes on.\n" + "=" * 80, 3)
    assert not loops("".join(f'{{"type": "SetState", "key": "k{n}", "value": true}},\n' for n in range(60)), 7)


def test_one_line_again_and_again_is_noticed_between_other_lines() -> None:
    text = "".join(f"{number} bells ring out\nI open the old door slowly.\n" for number in range(20))
    assert loops(text, 9)
    assert not loops(text, 9, count_lines=False)


async def test_an_answer_that_nobody_can_join_is_not_kept_while_it_is_read() -> None:
    async def run(deliver: Callable[[Piece | ModelReply], None]) -> None:
        for number in range(100):
            deliver(Piece(text=f"{number} "))
            await asyncio.sleep(0)
        deliver(ModelReply(text="", model="played"))

    subscription, most, read = SingleFlight().join(None, run), 0, list[Piece | ModelReply]()
    async for part in subscription:
        read.append(part)
        most = max(most, len(subscription._flight.parts))
    await subscription.leave()
    assert [part.text for part in read[:-1]] == [f"{number} " for number in range(100)]
    assert isinstance(read[-1], ModelReply) and most < 5


@pytest.mark.parametrize("listens", [True, False], ids=["listens", "reads"])
@pytest.mark.parametrize("seed", [None, 7], ids=["private", "shared"])
@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "held"])
@pytest.mark.parametrize("ends", [[], [ModelRefused("No.")]], ids=["well", "badly"])
async def test_an_answer_that_was_read_leaves_no_pieces_to_the_collector(
    listens: bool, seed: int | None, streaming: bool, ends: list[Step]
) -> None:
    stage = Stage(Actor([*(f"{number} " for number in range(100)), *ends]))
    question = stage.question(seed=seed, streaming=streaming)
    gc.collect()
    gc.disable()
    try:
        with suppress(ModelRefused):
            await (stage.client.stream_to(question, lambda _: None) if listens else whole(stage.client, question))
        await asyncio.sleep(0)
        # Some stand in frames; hundreds of thousands would be let go at one stroke, while everybody waits.
        assert sum(isinstance(thing, Piece) for thing in gc.get_objects()) < 50
    finally:
        gc.enable()


async def test_a_call_that_failed_when_all_had_left_leaves_no_traceback_in_the_log() -> None:
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: told.append(what))

    async def fail(deliver: Deliver) -> None:
        raise ModelCutOff("It broke off.")

    subscription = SingleFlight().join(None, fail)
    await asyncio.sleep(0.01)
    await subscription.leave()
    del subscription
    gc.collect()
    assert told == []


async def heard(stage: Stage, **more: Any) -> tuple[list[str], ModelReply]:
    pieces = list[str]()
    return pieces, await stage.client.stream_to(stage.question(**more), lambda piece: pieces.append(piece.text))


@pytest.mark.parametrize("seed", [None, 7])
async def test_who_hears_is_told_each_piece_and_gets_the_reply(seed: int | None) -> None:
    stage = Stage(Actor([BUSY], ["The ", "sea."]))
    pieces, reply = await heard(stage, seed=seed)
    assert (pieces, reply.text) == (["The ", "sea."], "The sea.")
    assert stage.clock.slept == [0.25]
    assert (await stage.recorded()).outcome == "ok" and len(stage.records) == 1
    assert len(stage.memo.kept) == (0 if seed is None else 1)


async def test_who_hears_a_kept_answer_hears_it_again_for_nothing() -> None:
    stage = Stage(Actor(["The ", "sea."], ["other"]))
    first, again = await heard(stage, seed=7), await heard(stage, seed=7)
    assert first[0] == again[0] == ["The ", "sea."] and first[1].text == again[1].text
    assert len(stage.actor.requests) == 1
    assert (await stage.recorded()).memo_hit


async def test_what_was_heard_is_not_told_anew_and_a_failure_is_recorded() -> None:
    stage = Stage(Actor(["The ", ModelCutOff("Cut.")], ["The sea."]))
    pieces = list[str]()
    with pytest.raises(ModelCutOff):
        await stage.client.stream_to(stage.question(), lambda piece: pieces.append(piece.text))
    assert pieces == ["The "] and len(stage.actor.requests) == 1
    assert (await stage.recorded()).outcome == "failed"


async def test_who_stops_hearing_ends_the_call_upstream() -> None:
    stage = Stage(Actor(["The ", 60.0, "sea."]))
    hearing = asyncio.create_task(heard(stage))
    while not stage.actor.requests:
        await asyncio.sleep(0)
    await asyncio.sleep(0.01)
    assert stage.journal.under_way == 1
    hearing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hearing
    assert (stage.actor.abandoned, stage.journal.under_way) == (1, 0)
    assert (await stage.recorded()).outcome == "cancelled"


async def test_tokens_of_a_call_count_before_its_record_is_written() -> None:
    stage = Stage(Actor(["The sea."]))
    await whole(stage.client, stage.question())
    assert stage.records == []
    counted = stage.journal.unwritten_tokens("s1")
    record = await stage.recorded()
    assert counted == record.usage.total_tokens > 0
    assert stage.journal.unwritten_tokens("s1") == stage.journal.unwritten_tokens("s2") == 0


async def test_records_are_written_by_themselves_in_their_order() -> None:
    stage = Stage(Actor(["one"], ["two"], ["three"]))
    for _ in range(3):
        await whole(stage.client, stage.question())
    for _ in range(100):
        if len(stage.records) == 3:
            break
        await asyncio.sleep(0.02)
    assert [record.recorded_at_ms for record in stage.records] == sorted(
        record.recorded_at_ms for record in stage.records
    )
    assert len(stage.records) == 3
