"""Every way in which the scripted server can fail, and the typed error that a caller sees."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from fabula.adapters.models import open_ai
from fabula.adapters.models.address_policy import AddressPolicy
from fabula.adapters.models.capabilities import Capabilities
from fabula.adapters.models.session import open_session
from fabula.adapters.models.thought_filter import Spoken
from fabula.adapters.models.wire import TOGETHER_S, Wire, in_our_words, shared_moment
from fabula.ports.models import (
    CallOrigin,
    Message,
    ModelBusy,
    ModelCutOff,
    ModelDenied,
    ModelError,
    ModelRefused,
    ModelRequest,
    ModelUnreachable,
    ModelUnusable,
    Piece,
    whole,
)
from fabula.story.values import JsonObject
from fabula.testing.model_kit import RunningClock
from fabula.testing.model_script import (
    Behaviour,
    CutMidStream,
    ErrorInStream,
    Fail,
    Garbage,
    Pace,
    Refuse,
    Say,
    Silence,
    say_json,
)
from fabula.testing.model_server import ModelServer

CLOCK = RunningClock()
KEY = "sk-never-told-to-anyone"
PAIR: JsonObject = {"type": "object", "properties": {"ops": {"type": "array"}}, "required": ["ops"]}


def question(*words: str, **more: Any) -> ModelRequest:
    messages = tuple(Message(role="user", content=word) for word in words or ("hello",))
    return ModelRequest(
        **{"origin": CallOrigin(agent="test"), "messages": messages, "deadline": CLOCK.monotonic() + 30, **more}
    )


@asynccontextmanager
async def talking_to(
    script: Sequence[Behaviour | str], model: str = "small", learned: dict[str, Capabilities] | None = None
) -> AsyncIterator[tuple[open_ai.OpenAiClient, ModelServer]]:
    policy = AddressPolicy(allow_private=True)
    async with ModelServer(script) as server, await open_session(policy) as session:
        wire = Wire(session=session, policy=policy, base_url=server.base_url, api_key=KEY, clock=CLOCK)
        known = {} if learned is None else learned
        yield open_ai.OpenAiClient(wire=wire, base_url=server.base_url, model=model, learned=known), server


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (Fail(status=401), ModelDenied),
        (Fail(status=403), ModelDenied),
        (Fail(status=404), ModelDenied),
        (Fail(status=429), ModelBusy),
        (Fail(status=500), ModelBusy),
        (Fail(status=503), ModelBusy),
        (Fail(status=400, message="the prompt is too long"), ModelRefused),
        (CutMidStream(), ModelCutOff),
        (CutMidStream(politely=True), ModelCutOff),
        (ErrorInStream(), ModelBusy),
        (Garbage(), ModelUnusable),
        (Refuse(), ModelRefused),
        (Refuse(by_filter=True), ModelRefused),
        (Silence(), ModelUnusable),
        (Say(text="  \n "), ModelUnusable),
    ],
    ids=str,
)
async def test_a_failure_has_its_type_and_one_sentence_without_the_key(
    behaviour: Behaviour, expected: type[ModelError]
) -> None:
    async with talking_to([behaviour]) as (client, server):
        with pytest.raises(expected) as failure:
            await whole(client, question())
        assert type(failure.value) is expected
        assert KEY not in str(failure.value) and KEY not in repr(failure.value.data)
        assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
        assert len(server.requests) == 1, "the SDK must not retry by itself"


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    async with talking_to([]) as (client, server):
        await server.__aexit__(None, None, None)
        with pytest.raises(ModelUnreachable):
            await whole(client, question())


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("nan", 0.0),
        ("nonsense", None),
        ("Mon, 99999999999999999999 Jan 2020 00:00:00 GMT", None),
        ("Mon, 01 Jan 2020 00:00:00 +99999999999999999999", None),
    ],
)
async def test_the_wait_that_a_busy_server_asks_for_is_told(header: str, seconds: float | None) -> None:
    async with talking_to([Fail(status=429, retry_after=header)]) as (client, _):
        with pytest.raises(ModelBusy) as busy:
            await whole(client, question())
        assert busy.value.data.get("retry_after_s") == seconds


async def test_a_connection_that_goes_between_two_reads_is_a_cut() -> None:
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: told.append(what))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun")
        await reader.read()
        writer.close()

    policy = AddressPolicy(allow_private=True)
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        for complete in (False, True):
            async with await open_session(policy) as session:
                wire = Wire(session=session, policy=policy, base_url=base_url, api_key=KEY, clock=CLOCK)
                begun = await wire.chat({})
                assert await begun.read() == b"begun"
            with pytest.raises(ModelCutOff), in_our_words():
                await begun.read()
            begun.close(complete=complete)
            await asyncio.sleep(0.01)
    gc.collect()
    assert told == []


async def test_what_was_said_before_the_cut_was_delivered() -> None:
    async with talking_to([CutMidStream(text="one two three four", tokens=2)]) as (client, _):
        heard = []
        with pytest.raises(ModelCutOff):
            async for part in client.stream(question()):
                assert isinstance(part, Piece)
                heard.append(part.text)
        assert "".join(heard) == "one two "


async def test_pieces_are_gathered_after_the_first_and_nothing_is_lost() -> None:
    text = " ".join(f"word{number}" for number in range(40))
    async with talking_to([Say(text=text, pace=Pace(tokens_per_second=400))]) as (client, _):
        parts = [part async for part in client.stream(question(gather_s=0.05))]
    pieces = [part.text for part in parts[:-1]]
    assert pieces[0] == "word0 " and len(pieces) < 20
    assert "".join(pieces) == parts[-1].text == text


def test_answers_of_many_turns_are_read_at_the_same_moments() -> None:
    rests = [1_000_000 + 0.1 + number * 0.0013 for number in range(77)]
    moments = [shared_moment(at) for at in rests]
    assert len({round(at * 1000) for at in moments}) <= 6
    assert all(abs(moment - at) <= TOGETHER_S / 2 + 1e-6 for moment, at in zip(moments, rests, strict=True))


async def test_usage_comes_from_the_provider() -> None:
    async with talking_to(["one two three"]) as (client, server):
        reply = await whole(client, question())
        assert reply.usage.completion_tokens == 3
        assert server.requests[0].body["stream_options"] == {"include_usage": True}


async def test_an_answer_that_hit_the_limit_says_so() -> None:
    async with talking_to([Say(text="and then", finish_reason="length")]) as (client, _):
        assert (await whole(client, question())).finish_reason == "length"


@pytest.mark.parametrize(
    "text",
    ['{"ops": []}', '```json\n{"ops": []}\n```', 'Of course!\n{"ops": []}\nAnything else?', '```\n{"ops": []}'],
)
async def test_json_is_found_in_chatter_and_fences(text: str) -> None:
    async with talking_to([text]) as (client, _):
        reply = await whole(client, question(output_schema=PAIR))
        assert reply.structured == {"ops": []}
        assert reply.text == text


@pytest.mark.parametrize(
    "text",
    ["no json here", '{"ops": [', '{"ops": [{"ops": []}, {"x": "unfinished', '{"ops": 3}', '["ops"]', "[" * 5000],
)
async def test_json_of_another_shape_is_unusable_and_its_text_is_kept_for_a_repair(text: str) -> None:
    async with talking_to([text]) as (client, _):
        with pytest.raises(ModelUnusable) as failure:
            await whole(client, question(output_schema=PAIR))
        assert failure.value.reply_text == text


async def test_a_server_without_json_schema_is_asked_in_words_and_this_is_remembered() -> None:
    learned: dict[str, Capabilities] = {}
    script: list[Behaviour | str] = [
        Fail(status=400, message="response_format of type json_schema is not supported", param="response_format"),
        Fail(status=400, message="Unknown parameter: response_format"),
        say_json({"ops": []}),
        say_json({"ops": [1]}),
    ]
    async with talking_to(script, learned=learned) as (client, server):
        await whole(client, question(output_schema=PAIR))
        reply = await whole(client, question(output_schema=PAIR))
        assert reply.structured == {"ops": [1]}
        formats = [request.body.get("response_format") for request in server.requests]
        assert [form["type"] if isinstance(form, dict) else None for form in formats] == [
            "json_schema",
            "json_object",
            None,
            None,
        ]
        assert "JSON Schema" in str(server.requests[-1].body["messages"])


@pytest.mark.parametrize(
    ("complaint", "gone"),
    [
        ("Unsupported parameter: 'seed'", "seed"),
        ("'temperature' does not support 0.3 with this model", "temperature"),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("stream_options is not allowed", "stream_options"),
    ],
)
async def test_a_refused_parameter_is_left_out(complaint: str, gone: str) -> None:
    async with talking_to([Fail(status=400, message=complaint), "fine"]) as (client, server):
        asked = question(seed=7, temperature=0.3, max_tokens=40)
        assert (await whole(client, asked)).text == "fine"
        assert gone in server.requests[0].body and gone not in server.requests[1].body
        if gone == "max_tokens":
            assert server.requests[1].body["max_completion_tokens"] == 40


async def test_a_model_without_system_role_is_told_everything_as_the_user() -> None:
    messages = (
        Message(role="system", content="Be brief."),
        Message(role="user", content="Who are you?"),
        Message(role="system", content="Answer in verse."),
    )
    refused = Fail(status=400, message="System role not supported")
    async with talking_to([refused, "fine"]) as (client, server):
        await whole(client, replace(question(), messages=messages))
        assert server.requests[1].body["messages"] == [
            {"role": "user", "content": "Be brief.\n\nWho are you?\n\nAnswer in verse."}
        ]


async def test_reasoning_models_are_known_from_the_table() -> None:
    async with talking_to(["fine"], model="gpt-5-mini") as (client, server):
        await whole(client, question(temperature=0.2, max_tokens=10))
        body = server.requests[0].body
        assert "temperature" not in body and body["max_completion_tokens"] == 10


async def test_models_are_listed_by_name() -> None:
    async with talking_to([]) as (_, server):
        policy = AddressPolicy(allow_private=True)
        async with await open_session(policy) as session:
            wire = Wire(session=session, policy=policy, base_url=server.base_url, api_key=None, clock=CLOCK)
            found = await open_ai.list_models(wire=wire, base_url=server.base_url, seconds=5)
        assert found.models == ("scripted-large", "scripted-small")


@pytest.mark.parametrize(
    ("sent", "heard"),
    [
        ("<think>Hm, who is she?</think>\n\nI am Mara.", "I am Mara."),
        ("  <think>a < b</think>Yes.", "Yes."),
        ("\n<think></th</think> \n </think> Yes.", "</think> Yes."),
        (" \n <", " \n <"),
        (" \n Yes.", " \n Yes."),
        ("<think>Hm.</think> \n ", ""),
        ("I am <think>Mara</think>.", "I am <think>Mara</think>."),
        ("<thinner>", "<thinner>"),
        ("<thi", "<thi"),
        ("Plain.", "Plain."),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_what_a_model_thinks_aloud_is_left_out(sent: str, heard: str, size: int) -> None:
    spoken = Spoken()
    passed = "".join(spoken.of(sent[start : start + size]) for start in range(0, len(sent), size))
    assert passed + spoken.rest() == heard


@pytest.mark.parametrize("begun", ["<think>", "<think>Hm.</think>", " "])
def test_of_a_long_thought_each_piece_is_read_once(begun: str) -> None:
    read = 0

    class Noted(str):
        """Text that says how much of it is looked through."""

        def __add__(self, more: str) -> Noted:
            return Noted(super().__add__(more))

        def __radd__(self, before: str) -> Noted:
            return Noted(before + str(self))

        def partition(self, mark: str) -> tuple[Noted, str, Noted]:
            nonlocal read
            read += len(self)
            before, found, behind = super().partition(mark)
            return Noted(before), found, Noted(behind)

        def lstrip(self, signs: str | None = None) -> Noted:
            nonlocal read
            read += len(self)
            return Noted(super().lstrip(signs))

    spoken = Spoken()
    spoken.of(begun)
    assert "".join(spoken.of(Noted(" ")) for _ in range(2_000)) == ""
    assert read <= 20 * 2_000


async def test_an_answer_that_is_only_thought_is_unusable() -> None:
    async with talking_to(["<think>What shall I say?</think>"]) as (client, _):
        with pytest.raises(ModelUnusable):
            await whole(client, question())
