"""The door to all models: who gets which client, where keys come from, and what is never told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fabula.adapters.models.clients import OpenModels, open_models
from fabula.ports.errors import InvalidRequest
from fabula.ports.models import CallOrigin, CallRecord, Message, ModelDenied, ModelRequest, whole
from fabula.settings import Settings
from fabula.story.resources import Api
from fabula.story.values import JsonObject
from fabula.testing.model_kit import RunningClock
from fabula.testing.model_script import Fail
from fabula.testing.model_server import ModelServer

CLOCK = RunningClock()


class MemoTable:
    def __init__(self) -> None:
        self.kept: dict[str, JsonObject] = {}

    async def get(self, key: str) -> JsonObject | None:
        return self.kept.get(key)

    async def put(self, key: str, reply: JsonObject) -> None:
        self.kept.setdefault(key, reply)


@asynccontextmanager
async def house(
    keys: dict[str, str], environment: dict[str, str] | None = None, **chosen: Any
) -> AsyncIterator[tuple[OpenModels, MemoTable, list[CallRecord]]]:
    memo, records = MemoTable(), list[CallRecord]()

    async def read_key(api_id: str) -> str | None:
        return keys.get(api_id)

    async def record(calls: Sequence[CallRecord]) -> None:
        records.extend(calls)

    models = open_models(Settings(**chosen), CLOCK, read_key, memo, record, environment=environment or {})
    yield models, memo, records
    await models.close()


def api_at(server: ModelServer, api_id: str = "mine") -> Api:
    return Api(api_id=api_id, display_name="x", provider="open_ai", base_url=server.base_url, model="small")


def question(seed: int | None = None) -> ModelRequest:
    return ModelRequest(
        origin=CallOrigin(agent="narrator"),
        messages=(Message(role="user", content="hello"),),
        seed=seed,
        deadline=CLOCK.monotonic() + 20,
    )


async def test_a_client_is_kept_while_its_key_stays_the_same() -> None:
    keys = {"mine": "sk-one"}
    async with ModelServer(["fine"]) as server, house(keys) as (models, _, _):
        first = await models.client_for(api_at(server), api_revision=1)
        assert await models.client_for(api_at(server), api_revision=1) is first
        keys["mine"] = "sk-two"
        second = await models.client_for(api_at(server), api_revision=2)
        await whole(second, question())
        assert server.requests[0].headers["Authorization"] == "Bearer sk-two"


async def test_an_api_that_was_deleted_and_made_anew_is_asked_with_its_new_key() -> None:
    keys = {"mine": "sk-one"}
    async with ModelServer(["fine"]) as server, house(keys) as (models, _, _):
        await models.client_for(api_at(server), api_revision=1)
        keys["mine"] = "sk-two"
        models.forget("mine")
        await whole(await models.client_for(api_at(server), api_revision=1), question())
        assert server.requests[0].headers["Authorization"] == "Bearer sk-two"


async def test_a_key_of_the_environment_is_read_at_call_time() -> None:
    environment = {"MY_API_KEY": "sk-early"}
    async with ModelServer(["fine"]) as server, house({"mine": "env:MY_API_KEY"}, environment) as (models, _, _):
        await whole(await models.client_for(api_at(server)), question())
        environment["MY_API_KEY"] = "sk-late"
        await whole(await models.client_for(api_at(server)), question())
        told = [request.headers["Authorization"] for request in server.requests]
        assert told == ["Bearer sk-early", "Bearer sk-late"]
        environment.clear()
        with pytest.raises(ModelDenied, match="MY_API_KEY is not set"):
            await models.client_for(api_at(server))


@pytest.mark.parametrize("name", ["PATH", "FABULA_SECRET_KEY", "DB_DSN", "my_api_key", "X_API_KEY_FILE", ""])
async def test_only_variables_that_the_operator_lists_are_read(name: str) -> None:
    environment = {name: "sk-not-yours"}
    async with ModelServer(["fine"]) as server, house({"mine": f"env:{name}"}, environment) as (models, _, _):
        with pytest.raises(ModelDenied, match="api_key_variables") as denied:
            await models.client_for(api_at(server))
        with pytest.raises(ModelDenied, match="api_key_variables"):
            await models.list_models(provider="open_ai", base_url=server.base_url, api_key=f"env:{name}")
        assert "sk-not-yours" not in denied.value.message and not server.requests


async def test_an_operator_may_list_other_variables() -> None:
    listed = {"api_key_variables": ("TEAM_*", "ONE_NAME")}
    environment = {"ONE_NAME": "sk-one"}
    async with (
        ModelServer(["fine"]) as server,
        house({"mine": "env:ONE_NAME"}, environment, **listed) as (models, _, _),
    ):
        await whole(await models.client_for(api_at(server)), question())
        assert server.requests[0].headers["Authorization"] == "Bearer sk-one"


async def test_no_key_stands_in_memo_records_or_errors() -> None:
    key = "sk-most-secret-key"
    async with ModelServer(["fine", Fail(status=401)]) as server, house({"mine": key}) as (models, memo, records):
        client = await models.client_for(api_at(server))
        await whole(client, question(seed=1))
        with pytest.raises(ModelDenied) as denied:
            await whole(client, question(seed=2))
        await models.close()
        assert len(memo.kept) == 1 and len(records) == 2
        assert key not in f"{memo.kept} {records} {denied.value!r} {denied.value.data} {client.fingerprint}"


async def test_the_memo_can_be_switched_off() -> None:
    async with ModelServer(["one", "two"]) as server, house({}, memo=False) as (models, memo, _):
        client = await models.client_for(api_at(server))
        assert [(await whole(client, question(seed=1))).text for _ in range(2)] == ["one", "two"]
        assert memo.kept == {}


async def test_two_hundred_streams_run_side_by_side() -> None:
    async with ModelServer(["one two three"]) as server, house({}) as (models, _, _):
        client = await models.client_for(api_at(server))
        replies = await asyncio.gather(*(whole(client, question()) for _ in range(200)))
        assert {reply.text for reply in replies} == {"one two three"}


async def test_models_are_listed_for_each_provider(tmp_path: Path) -> None:
    (tmp_path / "models" / "small").mkdir(parents=True)
    (tmp_path / "models" / "small" / "tiny.gguf").write_bytes(b"GGUF")
    async with ModelServer() as server, house({}, data_dir=tmp_path) as (models, _, _):
        remote = await models.list_models(provider="open_ai", base_url=f"{server.base_url}/", api_key="")
        assert remote.base_url == server.base_url
        assert remote.models == ("scripted-large", "scripted-small")
        assert (await models.list_models(provider="local", base_url="", api_key="")).models == ("small/tiny.gguf",)
        assert (await models.list_models(provider="understudy", base_url="", api_key="")).models == ("understudy",)
        with pytest.raises(InvalidRequest):
            await models.list_models(provider="other", base_url="", api_key="")
        with pytest.raises(InvalidRequest):
            await models.list_models(provider="open_ai", base_url="http://169.254.169.254/v1", api_key="")
        with pytest.raises(ModelDenied):
            async with ModelServer([Fail(status=401)]) as closed:
                await models.list_models(provider="open_ai", base_url=closed.base_url, api_key="wrong")
