"""Finding models: in the environment, on this machine, and what is told when they do not answer."""

from __future__ import annotations

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
    app = web.Application()
    app.router.add_get("/{any:.*}", lambda _: _page())
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    assert await detect(Settings(), ports={port: "llama.cpp"}) == []
    reach = await probe(AddressPolicy(allow_private=True), f"http://127.0.0.1:{port}/v1", None)
    assert "no model server" in str(reach.problem)
    await runner.cleanup()


async def _page() -> web.Response:
    return web.Response(text="<h1>hello</h1>")
