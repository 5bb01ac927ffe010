"""Finding models: in the environment, on this machine, and what is told when they do not answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import process_time

from aiohttp import web

from fabula.adapters.models.address_policy import AddressPolicy
from fabula.adapters.models.detect import detect, probe
from fabula.settings import Settings
from fabula.testing.model_script import Fail
from fabula.testing.model_server import ModelServer

NOWHERE = {1: "nothing listens there"}


async def test_nothing_is_found_where_nothing_is() -> None:
    assert await detect(Settings(), ports=NOWHERE) == []


async def test_the_environment_names_server_key_and_model() -> None:
    async with ModelServer() as server:
        settings = Settings(openai_api_key="sk-env", openai_api_base=server.base_url, llm_model="scripted-large")
        (found,) = await detect(settings, ports=NOWHERE, environment={"OPENAI_API_KEY": "sk-env"})
        assert (found.source, found.model, found.key) == ("environment", "scripted-large", "env:OPENAI_API_KEY")
        assert found.reach.reachable and found.reach.latency_ms is not None
        assert server.requests[0].headers["Authorization"] == "Bearer sk-env"
        assert "sk-env" not in repr(found)


async def test_a_server_on_one_of_the_usual_ports_is_found_with_a_model_that_talks() -> None:
    async with ModelServer(models=("nomic-embed-text", "llama3")) as server:
        (found,) = await detect(Settings(), ports={server.port: "Ollama"})
        assert (found.name, found.base_url, found.model, found.key) == ("Ollama", server.base_url, "llama3", "")


async def test_a_wrong_key_is_told_apart_from_a_server_that_is_not_there() -> None:
    policy = AddressPolicy(allow_private=True)
    async with ModelServer([Fail(status=401)]) as server:
        assert "key is refused" in str((await probe(policy, server.base_url, "wrong")).problem)
    assert "Nothing answers" in str((await probe(policy, "http://127.0.0.1:1/v1", None)).problem)


async def test_a_web_server_that_serves_no_models_is_not_taken_for_one() -> None:
    async with _answering(b"<h1>hello</h1>") as port:
        assert await detect(Settings(), ports={port: "llama.cpp"}) == []
        reach = await probe(AddressPolicy(allow_private=True), f"http://127.0.0.1:{port}/v1", None)
    assert "no model server" in str(reach.problem)


async def test_a_list_of_very_many_models_is_looked_through_once() -> None:
    async with ModelServer(models=tuple(f"m{n}" for n in range(20_000))) as server:
        began = process_time()
        reach = await probe(AddressPolicy(allow_private=True), server.base_url, None)
        assert process_time() - began < 1
    assert len(reach.models) == 20_000 and reach.others == ()


async def test_a_list_of_more_models_than_anybody_has_is_none() -> None:
    body = b'{"data":[' + b'{"id":1},' * 60_000 + b'{"id":1}]}'
    assert len(body) < 2**20
    async with _answering(body) as port:
        reach = await probe(AddressPolicy(allow_private=True), f"http://127.0.0.1:{port}/v1", None)
    assert "no model server" in str(reach.problem)


@asynccontextmanager
async def _answering(body: bytes) -> AsyncIterator[int]:
    """A server that answers every question so; its port."""

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/json")

    app = web.Application()
    app.router.add_get("/{any:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield runner.addresses[0][1]
    await runner.cleanup()
