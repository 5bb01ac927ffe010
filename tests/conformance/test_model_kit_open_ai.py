"""The model kit on open_ai, against the scripted server, bare and guarded."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from fabula.adapters.models import open_ai
from fabula.adapters.models.address_policy import AddressPolicy
from fabula.adapters.models.journal import Journal
from fabula.adapters.models.memo import SingleFlight
from fabula.adapters.models.model_guard import Guard, GuardedClient
from fabula.adapters.models.session import open_session
from fabula.adapters.models.structure import schema_problem
from fabula.adapters.models.turn_calls import TurnCalls
from fabula.adapters.models.wire import Wire
from fabula.ports.models import CallOrigin, Message, ModelClient, ModelRequest
from fabula.story.values import JsonObject
from fabula.testing.model_kit import CHECKS, Check, RunningClock, Subject
from fabula.testing.model_script import Behaviour, Endless, Fail, Pace, Say, say_json
from fabula.testing.model_server import ModelServer

KEY = "sk-secret-of-the-kit"
SHAPE: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def answer(request: JsonObject) -> Behaviour:
    """What the kit's words make the server do."""
    messages = request["messages"]
    assert isinstance(messages, list)
    word = str(messages[0]["content"]) if isinstance(messages[0], dict) else ""
    match word:
        case "long":
            return Endless(varied=True) if request.get("max_tokens") is None else Say(text="word " * 30)
        case "structured":
            return say_json({"name": "Ada", "age": 36})
        case "unfit":
            return say_json({"name": 36})
        case "failing":
            return Fail(status=401)
        case _:
            return Say(text="A plain answer.", pace=Pace(first_token_ms=1))


def asking(word: str, *, schema: JsonObject | None = None, max_tokens: int | None = 50) -> ModelRequest:
    return ModelRequest(
        origin=CallOrigin(agent="kit"),
        messages=(Message(role="user", content=word),),
        output_schema=schema,
        max_tokens=max_tokens,
        deadline=RunningClock().monotonic() + 60,
    )


@asynccontextmanager
async def subject_of(kind: str) -> AsyncIterator[Subject]:
    policy, clock = AddressPolicy(allow_private=True), RunningClock()
    async with ModelServer(answer) as server, await open_session(policy) as session:
        wire = Wire(session=session, policy=policy, base_url=server.base_url, api_key=KEY, clock=clock)
        client: ModelClient = open_ai.OpenAiClient(wire=wire, base_url=server.base_url, model="small", learned={})
        if kind == "guarded":
            journal = Journal(clock=clock, record=None)
            guard = Guard(
                clock=clock,
                journal=journal,
                flights=SingleFlight(),
                memo=None,
                attempts=2,
                chance=lambda: 0.0,
                turn_calls=TurnCalls(0),
            )
            client = GuardedClient(client, guard)

        async def stopped() -> None:
            await server.left.wait()
            assert server.cancelled == 1

        yield Subject(
            client=client,
            prose=asking("prose"),
            long=asking("long"),
            structured=asking("structured", schema=SHAPE),
            fits=lambda value, schema: schema_problem(value, schema) is None,
            unfit=asking("unfit", schema=SHAPE),
            failing=asking("failing"),
            secret=KEY,
            stopped=stopped,
        )


@pytest.mark.parametrize("kind", ["bare", "guarded"])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_the_law_of_models_holds_for_open_ai(check: Check, kind: str) -> None:
    async with subject_of(kind) as subject:
        if "ends_the_upstream" in check.__name__:
            from dataclasses import replace

            subject = replace(subject, long=asking("long", max_tokens=None))
        await check(subject)
